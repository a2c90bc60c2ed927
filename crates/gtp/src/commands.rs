//! The table of commands, and those about the engine itself.

use crate::engine::{Engine, Session};
use crate::error::GtpError;

/// A command's code: most answer at once, some talk while they work.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    Plain(fn(&mut Engine, &[String]) -> Result<String, GtpError>),
    Live(fn(&mut Engine, &[String], &mut Session<'_>) -> Result<String, GtpError>),
}

use Handler::{Live, Plain};

/// Every command, sorted by name.
const COMMANDS: &[(&str, Handler)] = &[
    ("all_legal", Plain(Engine::all_legal)),
    ("analyze", Live(Engine::kata_analyze)),
    ("boardsize", Plain(Engine::boardsize)),
    ("captures", Plain(Engine::captures)),
    ("clear_board", Plain(Engine::clear_board)),
    ("clear_cache", Plain(Engine::clear_cache)),
    ("color", Plain(Engine::color_at)),
    ("countlib", Plain(Engine::countlib)),
    ("cputime", Plain(Engine::cputime)),
    ("echo", Plain(|_, args| Ok(args.join(" ")))),
    ("final_score", Plain(Engine::final_score)),
    ("final_status_list", Plain(Engine::final_status_list)),
    ("findlib", Plain(Engine::findlib)),
    ("fixed_handicap", Plain(Engine::fixed_handicap)),
    ("genmove", Live(Engine::genmove)),
    ("genmove_analyze", Live(Engine::kata_genmove_analyze)),
    ("get_handicap", Plain(Engine::get_handicap)),
    ("get_komi", Plain(Engine::get_komi)),
    ("gg-undo", Plain(Engine::gg_undo)),
    ("gogui-analyze_commands", Plain(Engine::gogui_analyze_commands)),
    ("gogui-interrupt", Plain(|_, _| Ok(String::new()))),
    ("gogui-play_sequence", Plain(Engine::gogui_play_sequence)),
    ("gogui-setup", Plain(Engine::set_position)),
    ("gogui-setup_player", Plain(Engine::gogui_setup_player)),
    ("gogui-title", Plain(|engine, _| Ok(engine.info.name.clone()))),
    ("gomill-cpu_time", Plain(Engine::cputime)),
    ("gomill-describe_engine", Plain(Engine::describe)),
    ("is_legal", Plain(Engine::is_legal)),
    ("kata-analyze", Live(Engine::kata_analyze)),
    ("kata-genmove_analyze", Live(Engine::kata_genmove_analyze)),
    ("kata-get-models", Plain(Engine::kata_get_models)),
    ("kata-get-param", Plain(Engine::kata_get_param)),
    ("kata-get-params", Plain(Engine::kata_get_params)),
    ("kata-get-rules", Plain(Engine::kata_get_rules)),
    ("kata-list-params", Plain(Engine::kata_list_params)),
    ("kata-list_time_settings", Plain(Engine::kata_list_time_settings)),
    ("kata-raw-nn", Plain(Engine::kata_raw_nn)),
    ("kata-search", Live(Engine::kata_search)),
    ("kata-search_analyze", Live(Engine::kata_search_analyze)),
    ("kata-search_analyze_cancellable", Live(Engine::kata_search_analyze_cancellable)),
    ("kata-search_cancellable", Live(Engine::kata_search_cancellable)),
    ("kata-set-param", Plain(Engine::kata_set_param)),
    ("kata-set-params", Plain(Engine::kata_set_params)),
    ("kata-set-rule", Plain(Engine::kata_set_rule)),
    ("kata-set-rules", Plain(Engine::kata_set_rules)),
    ("kata-time_settings", Plain(Engine::kata_time_settings)),
    ("kgs-game_over", Plain(|_, _| Ok(String::new()))),
    ("kgs-genmove_cleanup", Live(Engine::kgs_genmove_cleanup)),
    ("kgs-rules", Plain(Engine::kgs_rules)),
    ("kgs-time_settings", Plain(Engine::kgs_time_settings)),
    ("known_command", Plain(known_command)),
    ("komi", Plain(Engine::komi)),
    ("last_move", Plain(Engine::last_move)),
    ("list_commands", Plain(list_commands)),
    ("list_stones", Plain(Engine::list_stones)),
    ("loadsgf", Plain(Engine::loadsgf)),
    ("lz-analyze", Live(Engine::lz_analyze)),
    ("lz-genmove_analyze", Live(Engine::lz_genmove_analyze)),
    ("move_history", Plain(Engine::move_history)),
    ("name", Plain(|engine, _| Ok(engine.info.name.clone()))),
    ("place_free_handicap", Plain(Engine::place_free_handicap)),
    ("play", Plain(Engine::play)),
    ("printsgf", Plain(Engine::printsgf)),
    ("protocol_version", Plain(|_, _| Ok("2".to_owned()))),
    ("query_boardsize", Plain(Engine::query_boardsize)),
    ("quit", Plain(quit)),
    ("rectangular_boardsize", Plain(Engine::boardsize)),
    ("reg_genmove", Live(Engine::reg_genmove)),
    ("set_free_handicap", Plain(Engine::set_free_handicap)),
    ("set_position", Plain(Engine::set_position)),
    ("showboard", Plain(Engine::showboard)),
    ("stop", Plain(|_, _| Ok(String::new()))),
    ("tengen-lead", Plain(Engine::tengen_lead)),
    ("tengen-ownership", Plain(Engine::tengen_ownership)),
    ("tengen-policy", Plain(Engine::tengen_policy)),
    ("tengen-value", Plain(Engine::tengen_value)),
    ("time_left", Plain(Engine::time_left)),
    ("time_settings", Plain(Engine::time_settings)),
    ("undo", Plain(Engine::undo)),
    ("version", Plain(|engine, _| Ok(engine.info.version.clone()))),
];

/// The code of a command.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    COMMANDS.iter().find(|(known, _)| *known == name).map(|&(_, handler)| handler)
}

fn quit(engine: &mut Engine, _: &[String]) -> Result<String, GtpError> {
    engine.done = true;
    Ok(String::new())
}

fn known_command(_: &mut Engine, args: &[String]) -> Result<String, GtpError> {
    Ok(args.first().is_some_and(|name| handler(name).is_some()).to_string())
}

fn list_commands(_: &mut Engine, _: &[String]) -> Result<String, GtpError> {
    Ok(COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n"))
}

impl Engine {
    /// For match programs: name, version, and what a move costs.
    pub(crate) fn describe(&mut self, _: &[String]) -> Result<String, GtpError> {
        let (name, version, visits) = (&self.info.name, &self.info.version, self.search.visits);
        Ok(format!("{name} {version}\n{visits} visits a move"))
    }

    /// Seconds of wall clock spent on generating moves since the engine began.
    pub(crate) fn cputime(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(format!("{:.6}", self.thought.as_secs_f64()))
    }

    /// Forgets what the last search found.
    pub(crate) fn clear_cache(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.tree = None;
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(COMMANDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
