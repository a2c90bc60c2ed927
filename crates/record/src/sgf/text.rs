//! Bytes to text, and text to property values and back.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

/// Decodes a whole file. A byte-order mark wins, then a `CA` property, then valid UTF-8, then
/// detection. It must happen before parsing: in Shift-JIS and Big5 a character's second byte may
/// be `]` or `\`. Undecodable bytes become U+FFFD, so the moves still load.
pub(crate) fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, skip) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, length),
        None => (declared(bytes).unwrap_or_else(|| detected(bytes)), 0),
    };
    encoding.decode_without_bom_handling(&bytes[skip..]).0
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.windows(3).position(|w| w == b"CA[")? + 3;
    let length = bytes[start..].iter().take(40).position(|&b| b == b']')?;
    Encoding::for_label(&bytes[start..start + length])
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new();
    detector.feed(bytes, true);
    detector.guess(None, false)
}

/// The text a raw value stands for: escapes resolved, soft line breaks removed, line breaks as
/// `\n`, other white space as a space.
pub(crate) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(b @ ('\n' | '\r')) => skip_pair(&mut chars, b),
                Some(c) => out.push(if c.is_whitespace() { ' ' } else { c }),
                None => {}
            },
            '\n' | '\r' => {
                skip_pair(&mut chars, c);
                out.push('\n');
            }
            '\t' | '\u{b}' | '\u{c}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// After one half of a `\r\n` or `\n\r` line break, drops the other half.
fn skip_pair(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, first: char) {
    let other = if first == '\n' { '\r' } else { '\n' };
    chars.next_if_eq(&other);
}

/// Makes text safe inside `[…]`.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
