//! Scalars as a TensorBoard event file: length-prefixed `Event` messages, each with two masked
//! CRC-32C sums (TensorFlow's `record_writer.cc`; fields from its `event.proto`, `summary.proto`).
//!
//! The ready-made crates need `protoc` at build time or bring an image library; two derived
//! messages are all that scalars take.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use prost::Message;

/// `Event`, as far as scalars need it.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// The step that the scalars belong to.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// Only in the first event: the format's name.
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    /// The scalars.
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
}

/// `Summary`.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// One entry for each scalar.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Scalar>,
}

/// `Summary.Value` with a simple value.
#[derive(Clone, PartialEq, Message)]
pub struct Scalar {
    /// The curve's name; a slash groups curves.
    #[prost(string, tag = "1")]
    pub tag: String,
    /// The point's height.
    #[prost(float, tag = "2")]
    pub simple_value: f32,
}

/// One event file, written through: what was added is there for a reader, and after a kill the
/// file ends at worst in one torn record, which TensorBoard skips.
pub struct EventFile(File);

impl EventFile {
    /// Starts a file of its own in `folder`; TensorBoard joins all files of a folder.
    pub fn create(folder: &Path, wall_time: f64) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (seconds, process) = (wall_time as u64, std::process::id());
        let path = folder.join(format!("events.out.tfevents.{seconds}.tengen.{process}"));
        let mut file = Self(OpenOptions::new().create(true).append(true).open(path)?);
        file.write(&Event {
            wall_time,
            file_version: Some("brain.Event:2".into()),
            ..Event::default()
        })?;
        Ok(file)
    }

    /// Appends one event with `(tag, value)` scalars.
    pub fn add(&mut self, wall_time: f64, step: u64, scalars: &[(String, f32)]) -> io::Result<()> {
        let value = scalars
            .iter()
            .map(|(tag, value)| Scalar { tag: tag.clone(), simple_value: *value })
            .collect();
        self.write(&Event {
            wall_time,
            step: i64::try_from(step).unwrap_or(i64::MAX),
            file_version: None,
            summary: Some(Summary { value }),
        })
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.0.write_all(&record(&event.encode_to_vec()))
    }
}

fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut bytes = Vec::with_capacity(data.len() + 16);
    bytes.extend(length);
    bytes.extend(masked(&length).to_le_bytes());
    bytes.extend(data);
    bytes.extend(masked(data).to_le_bytes());
    bytes
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of its own: lengths, sums and messages.
    fn events(mut bytes: &[u8]) -> Vec<Event> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            assert_eq!(bytes[8..12], masked(&bytes[..8]).to_le_bytes());
            let data = &bytes[12..12 + length];
            assert_eq!(bytes[12 + length..16 + length], masked(data).to_le_bytes());
            found.push(Event::decode(data).unwrap());
            bytes = &bytes[16 + length..];
        }
        found
    }

    #[test]
    fn the_first_record_is_byte_for_byte_tensorboards() {
        // Printed by `RecordWriter` of TensorBoard 2.21.0 for the same event.
        let theirs = "0f000000000000006d532b091a0d627261696e2e4576656e743a32fc985129";
        let event = Event { file_version: Some("brain.Event:2".into()), ..Event::default() };
        let ours: String =
            record(&event.encode_to_vec()).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn scalars_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = EventFile::create(folder.path(), 12.5).unwrap();
        file.add(13.0, 7, &[("train/loss".into(), 2.5), ("train/l2".into(), 0.25)]).unwrap();
        let path = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let found = events(&std::fs::read(path).unwrap());
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].file_version.as_deref(), Some("brain.Event:2"));
        assert_eq!((found[1].step, found[1].wall_time), (7, 13.0));
        let scalars = &found[1].summary.as_ref().unwrap().value;
        assert_eq!((scalars[0].tag.as_str(), scalars[0].simple_value), ("train/loss", 2.5));
        assert_eq!((scalars[1].tag.as_str(), scalars[1].simple_value), ("train/l2", 0.25));
    }
}
