//! The value of a position, with its perspective in the type.

use std::ops::Neg;

/// An expected result in `[-1, 1]` for the player to move: 1 is a sure win.
///
/// `-value` is the same value seen by the opponent, and the only conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Value(f32);

impl Value {
    /// A sure win for the player to move.
    pub const WIN: Value = Value(1.0);
    /// A sure loss for the player to move.
    pub const LOSS: Value = Value(-1.0);
    /// An even result.
    pub const DRAW: Value = Value(0.0);

    /// Clamps to `[-1, 1]`; NaN becomes 0.
    pub fn new(value: f32) -> Value {
        if value.is_nan() { Value::DRAW } else { Value(value.clamp(-1.0, 1.0)) }
    }

    /// The number in `[-1, 1]`.
    pub fn get(self) -> f32 {
        self.0
    }
}

impl Neg for Value {
    type Output = Value;

    fn neg(self) -> Value {
        Value(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_clamped_and_never_nan() {
        assert_eq!(Value::new(f32::NAN), Value::DRAW);
        assert_eq!(Value::new(7.0), Value::WIN);
        assert_eq!(-Value::new(-7.0), Value::WIN);
    }
}
