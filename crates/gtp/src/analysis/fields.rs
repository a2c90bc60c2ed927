//! Fields of a query, read one by one, so that an error can name its field.

use serde_json::{Map, Value, json};
use tengen_rules::{BoardSize, Color, Move};

/// Why a query can't be answered: the message and the field it is about.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub field: &'static str,
    pub message: String,
}

impl FieldError {
    pub fn new(field: &'static str, message: impl Into<String>) -> FieldError {
        FieldError { field, message: message.into() }
    }

    /// The answer's line.
    pub fn to_json(&self, id: &str) -> Value {
        json!({ "error": self.message, "field": self.field, "id": id })
    }
}

/// A query's fields. A field that is null counts as absent.
pub(crate) struct Fields<'a>(pub &'a Map<String, Value>);

type Read<T> = Result<T, FieldError>;

impl<'a> Fields<'a> {
    pub fn get(&self, field: &'static str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    pub fn flag(&self, field: &'static str) -> Read<bool> {
        let Some(value) = self.get(field) else { return Ok(false) };
        value.as_bool().ok_or_else(|| FieldError::new(field, "Must be a boolean"))
    }

    pub fn integer(&self, field: &'static str, least: i64, most: i64) -> Read<Option<i64>> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let number = whole(value).filter(|number| (least..=most).contains(number));
        let message = || format!("Must be an integer from {least} to {most}");
        number.map(Some).ok_or_else(|| FieldError::new(field, message()))
    }

    pub fn number(&self, field: &'static str, least: f64, most: f64) -> Read<Option<f64>> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let number = value.as_f64().filter(|number| (least..=most).contains(number));
        let message = || format!("Must be a number from {least} to {most}");
        number.map(Some).ok_or_else(|| FieldError::new(field, message()))
    }

    pub fn integers(&self, field: &'static str, most: usize) -> Read<Option<Vec<i64>>> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let list = value.as_array().filter(|list| list.len() <= most);
        let numbers = list.and_then(|list| list.iter().map(whole).collect());
        numbers.map(Some).ok_or_else(|| FieldError::new(field, "Must be an array of integers"))
    }

    pub fn player(&self, field: &'static str) -> Read<Option<Color>> {
        self.get(field).map(|value| player(field, value)).transpose()
    }

    /// `[["B","C4"], …]`.
    pub fn moves(&self, field: &'static str, size: BoardSize) -> Read<Option<Vec<(Color, Move)>>> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let bad = || FieldError::new(field, "Must be an array of pairs [player, location]");
        let read = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
            Some([who, place]) => Ok((player(field, who)?, location(field, size, place)?)),
            _ => Err(bad()),
        };
        value.as_array().ok_or_else(bad)?.iter().map(read).collect::<Read<_>>().map(Some)
    }
}

fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

pub(crate) fn player(field: &'static str, value: &Value) -> Read<Color> {
    match value.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("b" | "black") => Ok(Color::Black),
        Some("w" | "white") => Ok(Color::White),
        _ => Err(FieldError::new(field, "Could not parse player: must be \"B\" or \"W\"")),
    }
}

/// A vertex, `pass`, or `(x,y)` from the top left.
pub(crate) fn location(field: &'static str, size: BoardSize, value: &Value) -> Read<Move> {
    let text = value.as_str().unwrap_or_default().trim();
    let bad = || {
        let shown: String = value.to_string().chars().take(40).collect();
        FieldError::new(field, format!("Could not parse board location: {shown}"))
    };
    let Some(pair) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return size.parse_vertex(text).map_err(|_| bad());
    };
    let (col, row) = pair.split_once(',').ok_or_else(bad)?;
    let (col, row): (usize, usize) =
        (col.trim().parse().map_err(|_| bad())?, row.trim().parse().map_err(|_| bad())?);
    if col >= size.width() || row >= size.height() {
        return Err(bad());
    }
    Ok(Move::Play(size.point(col, row)))
}
