//! Bytes to text, and text to property values and back.

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
};

/// Decodes a whole file. It must happen before parsing: in Shift-JIS, Big5 and GBK a character's
/// second byte may be `]` or `\`. Undecodable bytes become U+FFFD, so the moves still load.
///
/// In this order: a byte-order mark; UTF-16 told by its zero bytes; the `CA` properties (each game
/// of a joined file by its own); valid UTF-8; detection. Two labels are not believed: a legacy one
/// on text that is UTF-8 throughout, and UTF-8 on text that is clearly East Asian.
pub(crate) fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    let declared = declared(bytes);
    let mixed = declared.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let Some(&(_, first)) = declared.first().filter(|_| !mixed) else {
        return match declared.is_empty() {
            true => decode_as(None, bytes),
            false => decode_parts(&declared, bytes),
        };
    };
    decode_as(Some(first), bytes)
}

fn decode_as<'a>(declared: Option<&'static Encoding>, bytes: &'a [u8]) -> Cow<'a, str> {
    let encoding = believed(declared, bytes);
    encoding.decode_without_bom_handling(bytes).0
}

/// A file joined from games in different charsets: each part begins with the game that declares it.
fn decode_parts<'a>(declared: &[(usize, &'static Encoding)], bytes: &'a [u8]) -> Cow<'a, str> {
    let mut text = String::with_capacity(bytes.len());
    text.push_str(&decode_as(None, &bytes[..declared[0].0]));
    for (index, &(start, encoding)) in declared.iter().enumerate() {
        let end = declared.get(index + 1).map_or(bytes.len(), |&(next, _)| next);
        text.push_str(&decode_as(Some(encoding), &bytes[start..end]));
    }
    Cow::Owned(text)
}

/// The first known `CA` label of each game, with the offset of the game's `(`. The parentheses and
/// the `;` that show a game are never a character's second byte.
fn declared(bytes: &[u8]) -> Vec<(usize, &'static Encoding)> {
    let mut found: Vec<(usize, &'static Encoding)> = Vec::new();
    let (mut open, mut start) = (None, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open = Some(at),
            b';' => start = open.take().unwrap_or(start),
            b if b.is_ascii_whitespace() => {}
            b'C' if bytes[at..].starts_with(b"CA[") => {
                open = None;
                // Behind the node's start or another property, hence not within a text.
                let before = bytes[..at].iter().rev().find(|b| !b.is_ascii_whitespace());
                let starts = matches!(before, Some(b';' | b']' | b'('));
                if !starts || found.last().is_some_and(|&(known, _)| known == start) {
                    continue;
                }
                let label = bytes[at + 3..].iter().take(40).position(|&b| b == b']');
                let label = label.and_then(|n| Encoding::for_label(&bytes[at + 3..at + 3 + n]));
                found.extend(label.map(|encoding| (start, encoding)));
            }
            _ => open = None,
        }
    }
    found
}

fn believed(declared: Option<&'static Encoding>, bytes: &[u8]) -> &'static Encoding {
    let valid = std::str::from_utf8(bytes);
    match (declared, valid) {
        (None, Ok(_)) => UTF_8,
        (None, Err(_)) => detected(bytes),
        (Some(label), Ok(text)) if label != UTF_8 => {
            // Three characters beyond U+07FF by chance in legacy text: next to impossible.
            let long = text.chars().filter(|&c| c > '\u{7ff}').take(3).count();
            if long == 3 { UTF_8 } else { label }
        }
        (Some(label), Err(_)) if label == UTF_8 => {
            let guess = detected(bytes);
            let eastern = [GBK, GB18030, BIG5, SHIFT_JIS, EUC_JP, EUC_KR].contains(&guess);
            let clean = eastern && !guess.decode_without_bom_handling(bytes).1;
            if clean { guess } else { label }
        }
        (Some(label), _) => label,
    }
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new();
    detector.feed(bytes, true);
    detector.guess(None, false)
}

/// SGF is mostly ASCII, so in UTF-16 every other one of the first bytes is zero.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..8)?;
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).all(|&b| b == 0);
    match (zeros(0), zeros(1)) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
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

/// The two raw halves of a composed value (`AP[CGoban:3]`), split at the first `:` that is not
/// escaped; the second is empty where there is none.
pub(crate) fn compose(raw: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in raw.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return (&raw[..at], &raw[at + 1..]),
            _ => {}
        }
    }
    (raw, "")
}
