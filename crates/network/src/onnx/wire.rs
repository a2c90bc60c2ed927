//! As much of ONNX's protocol-buffer format as a network needs to be written.
//!
//! Field numbers are those of `onnx.proto` (ONNX 1.12, IR version 8).

/// A message on its way to its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    /// A field that is an integer; a negative one as ten bytes, as protocol buffers have it.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.tag(field, 0);
        self.varint(value as u64);
        self
    }

    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.tag(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.tag(field, 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }
}

/// ONNX's number for `f32`.
const FLOAT: i64 = 1;
/// ONNX's number for `i64`.
const INT64: i64 = 7;

/// A tensor of numbers by name (`TensorProto`).
pub(super) fn floats(name: &str, shape: &[usize], data: &[f32]) -> Message {
    let raw: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    tensor(name, shape, FLOAT, &raw)
}

/// A row of integers by name.
pub(super) fn ints(name: &str, data: &[i64]) -> Message {
    let raw: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    tensor(name, &[data.len()], INT64, &raw)
}

fn tensor(name: &str, shape: &[usize], kind: i64, raw: &[u8]) -> Message {
    let dims = shape.iter().fold(Message::default(), |tensor, &n| tensor.int(1, n as i64));
    dims.int(2, kind).text(8, name).bytes(9, raw)
}

/// An input or output of `f32` (`ValueInfoProto`); each extent a number or a name.
pub(super) fn value(name: &str, shape: &[Result<usize, &str>]) -> Message {
    let shape = shape.iter().fold(Message::default(), |shape, dim| {
        let dim = match dim {
            Ok(n) => Message::default().int(1, *n as i64),
            Err(name) => Message::default().text(2, name),
        };
        shape.message(1, &dim)
    });
    let tensor = Message::default().int(1, FLOAT).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// An attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute<'a> {
    Float(&'a str, f32),
    Int(&'a str, i64),
    Ints(&'a str, &'a [i64]),
}

impl Attribute<'_> {
    fn message(self) -> Message {
        let message = Message::default();
        match self {
            Self::Float(name, x) => message.text(1, name).float(2, x).int(20, 1),
            Self::Int(name, x) => message.text(1, name).int(3, x).int(20, 2),
            Self::Ints(name, all) => {
                let message = message.text(1, name);
                all.iter().fold(message, |message, &x| message.int(8, x)).int(20, 7)
            }
        }
    }
}

/// An operation (`NodeProto`), named as its first output.
pub(super) fn node(
    kind: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[Attribute<'_>],
) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    let node = outputs.iter().fold(node, |node, output| node.text(2, output));
    let node = node.text(3, outputs.first().copied().unwrap_or(kind)).text(4, kind);
    attributes.iter().fold(node, |node, attribute| node.message(5, &attribute.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_protocol_buffers_write_them() {
        // The examples of the protocol buffers' own page on encoding: field 1 = 150, field 2 = "testing".
        let message = Message::default().int(1, 150).text(2, "testing");
        assert_eq!(message.0, b"\x08\x96\x01\x12\x07testing");
        let nested = Message::default().message(3, &Message::default().int(1, 150));
        assert_eq!(nested.0, b"\x1a\x03\x08\x96\x01");
        assert_eq!(Message::default().int(1, -2).0.len(), 11);
        assert_eq!(Message::default().float(1, 1.0).0, b"\x0d\x00\x00\x80\x3f");
    }
}
