//! What a command sees of the world while it runs: whether it must stop, and where its lines go.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::Duration;

/// Bytes of a line that are looked at; the rest of a longer one is dropped.
const MAX_LINE: u64 = 1 << 20;

/// The other end of a running command.
pub(crate) trait Live {
    /// Whether a new line has come (or the input ended): analysis and pondering stop at once.
    fn stopped(&mut self) -> bool;

    /// Whether the new line is GoGui's `# interrupt`, which asks a `genmove` to be quick.
    fn interrupted(&mut self) -> bool;

    /// Whether a search without a limit of its own may go on until it is stopped.
    fn is_endless(&self) -> bool;

    /// Waits for a new line, at most `time`.
    fn wait(&mut self, time: Duration);

    /// Sends text at once.
    fn send(&mut self, text: &str);
}

/// No world: text is collected, nothing interrupts, nothing may be endless.
#[derive(Default)]
pub(crate) struct Collected(pub String);

impl Live for Collected {
    fn stopped(&mut self) -> bool {
        false
    }

    fn interrupted(&mut self) -> bool {
        false
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn wait(&mut self, _: Duration) {}

    fn send(&mut self, text: &str) {
        self.0.push_str(text);
    }
}

/// Lines read ahead by a thread of its own, so that a running search sees them come.
pub(crate) struct Input {
    lines: Receiver<io::Result<Vec<u8>>>,
    waiting: VecDeque<io::Result<Vec<u8>>>,
    ended: bool,
}

impl Input {
    /// Starts reading. The thread ends with its reader, or at the first line that nobody takes.
    pub fn read(mut reader: impl BufRead + Send + 'static) -> Input {
        let (sender, lines) = channel();
        thread::spawn(move || {
            while let Some(line) = read_line(&mut reader).transpose() {
                let failed = line.is_err();
                if sender.send(line).is_err() || failed {
                    break;
                }
            }
        });
        Input { lines, waiting: VecDeque::new(), ended: false }
    }

    /// The next line; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.waiting.pop_front() {
            Some(line) => line.map(Some),
            None if self.ended => Ok(None),
            None => self.lines.recv().ok().transpose(),
        }
    }

    /// Whether a line (or the end) has come.
    pub fn has_come(&mut self) -> bool {
        loop {
            match self.lines.try_recv() {
                Ok(line) => self.waiting.push_back(line),
                Err(TryRecvError::Disconnected) => {
                    self.ended = true;
                    return true;
                }
                Err(TryRecvError::Empty) => return !self.waiting.is_empty(),
            }
        }
    }

    /// Waits for a line, at most `time`.
    pub fn wait(&mut self, time: Duration) {
        if self.ended || !self.waiting.is_empty() {
            return;
        }
        match self.lines.recv_timeout(time) {
            Ok(line) => self.waiting.push_back(line),
            Err(RecvTimeoutError::Disconnected) => self.ended = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// One line without its end, of which at most [`MAX_LINE`] bytes are kept; `None` at the end.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE {
        reader.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// A controller at the other end of a pipe.
pub(crate) struct Console<'a, W> {
    pub input: &'a mut Input,
    pub writer: &'a mut W,
    /// The first failure to write; nothing is sent after it.
    pub failed: Option<io::Error>,
}

impl<W: Write> Live for Console<'_, W> {
    fn stopped(&mut self) -> bool {
        self.failed.is_some() || self.input.has_come()
    }

    fn interrupted(&mut self) -> bool {
        self.input.has_come()
            && self.input.waiting.front().is_some_and(|line| {
                line.as_ref().is_ok_and(|line| line.trim_ascii() == b"# interrupt")
            })
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn wait(&mut self, time: Duration) {
        self.input.wait(time);
    }

    fn send(&mut self, text: &str) {
        if self.failed.is_none() {
            let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
            self.failed = written.err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_beyond_all_measure_is_cut_and_the_next_is_whole() {
        let mut text = vec![b'a'; 3 << 20];
        text.extend(b"\nname\nquit");
        let mut input = Input::read(io::Cursor::new(text));
        assert_eq!(input.next().unwrap().unwrap().len() as u64, MAX_LINE);
        assert_eq!(input.next().unwrap().unwrap(), b"name\n");
        input.wait(Duration::from_secs(9));
        assert!(input.has_come());
        assert_eq!(input.next().unwrap().unwrap(), b"quit");
        assert!(input.next().unwrap().is_none());
        assert!(input.next().unwrap().is_none());
    }
}
