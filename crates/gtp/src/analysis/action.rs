//! Queries that are orders: versions, the cache, an end to other queries.

use serde_json::{Map, Value, json};

use super::engine::AnalysisEngine;
use super::fields::{FieldError, Fields};
use crate::params::model;

impl AnalysisEngine {
    /// Does what an action query asks and echoes it.
    pub(crate) fn act(&mut self, id: &str, action: &str, object: &Map<String, Value>) {
        let mut echo = object.clone();
        match action {
            "query_version" => {
                echo.insert("version".to_owned(), json!(self.options.version));
                echo.insert("git_hash".to_owned(), json!("<omitted>"));
            }
            "query_models" => {
                let model = model(&self.options.model, self.max_batch());
                echo.insert("models".to_owned(), json!([model]));
            }
            "clear_cache" => self.clear_cache(),
            "terminate" => {
                let Some(which) = object.get("terminateId").and_then(Value::as_str) else {
                    let error = FieldError::new("terminateId", "Must be a string");
                    return self.send(error.to_json(id));
                };
                return self.end(id, Some(which), object, echo);
            }
            "terminate_all" => return self.end(id, None, object, echo),
            _ => {
                let known = "query_version, query_models, clear_cache, terminate or terminate_all";
                let error = FieldError::new("action", format!("Must be {known}"));
                return self.send(error.to_json(id));
            }
        }
        self.send(Value::Object(echo));
    }

    fn end(
        &mut self,
        id: &str,
        which: Option<&str>,
        object: &Map<String, Value>,
        echo: Map<String, Value>,
    ) {
        match Fields(object).integers("turnNumbers", 100_000) {
            Err(error) => self.send(error.to_json(id)),
            Ok(turns) => {
                self.send(Value::Object(echo));
                self.terminate(which, turns.as_deref());
            }
        }
    }
}
