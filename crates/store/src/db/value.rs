//! What goes into a statement and what comes out of it: five kinds of values, as in SQLite.

use crate::{GameId, StoreError};

/// A value on its way into a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Param<'a> {
    Null,
    Int(i64),
    /// Counters are `u64` everywhere; one beyond `i64` is refused instead of wrapped.
    Count(u64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A value that came out of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    #[default]
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Parameters of mixed types: `params![id, name, seq]`, by reference.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::db::ToParam::to_param(&$value)),*][..] };
}
pub(crate) use params;

/// A type that a parameter can be made of.
pub(crate) trait ToParam {
    fn to_param(&self) -> Param<'_>;
}

macro_rules! to_param {
    ($($type:ty, $value:ident => $param:expr;)*) => {
        $(impl ToParam for $type {
            fn to_param(&self) -> Param<'_> {
                let $value = self;
                $param
            }
        })*
    };
}

to_param! {
    i64, value => Param::Int(*value);
    u64, value => Param::Count(*value);
    usize, value => Param::Count(*value as u64);
    u32, value => Param::Int(i64::from(*value));
    u8, value => Param::Int(i64::from(*value));
    bool, value => Param::Int(i64::from(*value));
    f64, value => Param::Real(*value);
    f32, value => Param::Real(f64::from(*value));
    str, value => Param::Text(value);
    String, value => Param::Text(value);
    [u8], value => Param::Blob(value);
    Vec<u8>, value => Param::Blob(value);
    GameId, value => Param::Blob(&value.0);
}

impl<const N: usize> ToParam for [u8; N] {
    fn to_param(&self) -> Param<'_> {
        Param::Blob(self)
    }
}

impl<T: ToParam + ?Sized> ToParam for &T {
    fn to_param(&self) -> Param<'_> {
        (**self).to_param()
    }
}

impl<T: ToParam> ToParam for Option<T> {
    fn to_param(&self) -> Param<'_> {
        self.as_ref().map_or(Param::Null, ToParam::to_param)
    }
}

impl ToParam for Value {
    fn to_param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Int(int) => Param::Int(*int),
            Self::Real(real) => Param::Real(*real),
            Self::Text(text) => Param::Text(text),
            Self::Blob(blob) => Param::Blob(blob),
        }
    }
}

/// The rows of a statement, in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    width: usize,
    cells: Vec<Value>,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, cells: Vec::new() }
    }

    pub(crate) fn push(&mut self, cell: Value) {
        self.cells.push(cell);
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    pub(crate) fn read<T>(
        mut self,
        read: impl FnMut(&mut Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut out = Vec::with_capacity(self.len());
        let mut read = read;
        for cells in self.cells.chunks_exact_mut(self.width.max(1)) {
            out.push(read(&mut Row { cells })?);
        }
        Ok(out)
    }

    pub(crate) fn first<T>(
        mut self,
        mut read: impl FnMut(&mut Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match self.cells.get_mut(..self.width) {
            Some(cells) if !cells.is_empty() => read(&mut Row { cells }).map(Some),
            _ => Ok(None),
        }
    }
}

/// One row. A column can be taken once: texts and blobs move out of it.
pub(crate) struct Row<'a> {
    cells: &'a mut [Value],
}

impl Row<'_> {
    /// Column `index`, from 0.
    pub(crate) fn get<T: FromValue>(&mut self, index: usize) -> Result<T, StoreError> {
        let cell = self.cells.get_mut(index).map(std::mem::take);
        let cell = cell.ok_or_else(|| StoreError::Query(format!("no column {index}")))?;
        T::from_value(cell).map_err(|found| {
            let wanted = std::any::type_name::<T>();
            StoreError::Query(format!("column {index} holds {found}, not a {wanted}"))
        })
    }

    /// Every column that is left, in order.
    pub(crate) fn take(&mut self) -> Vec<Value> {
        self.cells.iter_mut().map(std::mem::take).collect()
    }
}

/// A type that a column can be read as; the error is what the column holds instead.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value) -> Result<Self, String>;
}

/// What `value` is, in short.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Int(int) => format!("the integer {int}"),
        Value::Real(real) => format!("the number {real}"),
        Value::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Blob(blob) => format!("{} bytes", blob.len()),
    }
}

macro_rules! from_int {
    ($($type:ty),*) => {
        $(impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                match value {
                    Value::Int(int) => Self::try_from(int).map_err(|_| kind(&value)),
                    other => Err(kind(&other)),
                }
            }
        })*
    };
}

from_int!(i64, u64, u32, u8);

impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Int(0) => Ok(false),
            Value::Int(1) => Ok(true),
            other => Err(kind(&other)),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Real(real) => Ok(real),
            Value::Int(int) => Ok(int as Self),
            other => Err(kind(&other)),
        }
    }
}

impl FromValue for f32 {
    fn from_value(value: Value) -> Result<Self, String> {
        f64::from_value(value).map(|real| real as Self)
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(kind(&other)),
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Blob(blob) => Ok(blob),
            other => Err(kind(&other)),
        }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value) -> Result<Self, String> {
        let blob = Vec::from_value(value)?;
        blob.try_into().map_err(|blob: Vec<u8>| format!("{} bytes", blob.len()))
    }
}

impl FromValue for GameId {
    fn from_value(value: Value) -> Result<Self, String> {
        FromValue::from_value(value).map(Self)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_another_kind_is_told_not_guessed() {
        let mut rows = Rows::new(2);
        for cell in [Value::Int(-1), Value::Text("x".to_owned())] {
            rows.push(cell);
        }
        let told = rows.clone().read(|row| row.get::<u64>(0)).unwrap_err().to_string();
        assert!(told.contains("the integer -1"), "{told}");
        let told = rows.clone().read(|row| row.get::<Vec<u8>>(1)).unwrap_err().to_string();
        assert!(told.contains("the text \"x\""), "{told}");
        assert_eq!(rows.first(|row| row.get::<i64>(0)).unwrap(), Some(-1));
    }

    #[test]
    fn nothing_is_null_and_references_are_what_they_point_to() {
        let (name, none) = ("a".to_owned(), None::<u64>);
        let expected =
            [Param::Null, Param::Count(3), Param::Text("a"), Param::Text("b"), Param::Int(1)];
        assert_eq!(params![none, Some(3_u64), &name, "b", true], expected);
    }
}
