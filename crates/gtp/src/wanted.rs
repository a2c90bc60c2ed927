//! The arguments of the analysis commands.

use std::time::Duration;

use tengen_rules::{BoardSize, Color, Move};
use tengen_search::MoveLimits;

use crate::engine::color;
use crate::error::GtpError;

/// What an analysis command asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Whose moves; the player to move unless given.
    pub player: Option<Color>,
    /// Time between two reports; none are made unless given.
    pub interval: Option<Duration>,
    pub min_moves: usize,
    pub max_moves: usize,
    pub limits: MoveLimits,
    pub root_info: bool,
    pub ownership: bool,
    pub moves_ownership: bool,
    pub pv_visits: bool,
    pub pv_edge_visits: bool,
    pub no_result: bool,
}

impl Wanted {
    /// Reads `[player] [interval] KEY VALUE …`; the keys of Leela Zero and KataGo.
    ///
    /// # Errors
    /// On unknown keys, values that don't fit, and `allow` beside `avoid`.
    pub fn parse(size: BoardSize, args: &[String]) -> Result<Wanted, GtpError> {
        let mut wanted = Wanted {
            player: None,
            interval: None,
            min_moves: 0,
            max_moves: usize::MAX,
            limits: MoveLimits::default(),
            root_info: false,
            ownership: false,
            moves_ownership: false,
            pv_visits: false,
            pv_edge_visits: false,
            no_result: false,
        };
        let mut words = args.iter().map(String::as_str).peekable();
        if let Some(player) = words.peek().and_then(|word| color(word).ok()) {
            wanted.player = Some(player);
            words.next();
        }
        if let Some(interval) = words.peek().and_then(|word| centiseconds(word)) {
            wanted.interval = Some(interval);
            words.next();
        }
        let (mut avoids, mut allows) = (false, [false; 2]);
        while let Some(key) = words.next() {
            let mut value = || words.next().ok_or(GtpError::Syntax);
            match key {
                "interval" => {
                    wanted.interval = Some(centiseconds(value()?).ok_or(GtpError::Syntax)?);
                }
                "minmoves" => wanted.min_moves = count(value()?)?,
                "maxmoves" => wanted.max_moves = count(value()?)?,
                "avoid" | "allow" => {
                    let player = color(value()?)?;
                    let actions = actions(size, value()?)?;
                    let depth = count(value()?)?.max(1);
                    if key == "avoid" {
                        avoids = true;
                        wanted.limits.avoid(player, &actions, depth);
                    } else {
                        if std::mem::replace(&mut allows[player.index()], true) {
                            return Err(GtpError::Syntax);
                        }
                        wanted.limits.allow(player, &actions, depth);
                    }
                    if avoids && allows != [false; 2] {
                        return Err(GtpError::Syntax);
                    }
                }
                "rootInfo" => wanted.root_info = flag(value()?)?,
                "ownership" => wanted.ownership = flag(value()?)?,
                "movesOwnership" => wanted.moves_ownership = flag(value()?)?,
                "pvVisits" => wanted.pv_visits = flag(value()?)?,
                "pvEdgeVisits" => wanted.pv_edge_visits = flag(value()?)?,
                "noResultValue" => wanted.no_result = flag(value()?)?,
                // Nothing here knows how ownership varies over a tree: asked for, it is left out.
                "ownershipStdev" | "movesOwnershipStdev" => {
                    flag(value()?)?;
                }
                _ => return Err(GtpError::Syntax),
            }
        }
        Ok(wanted)
    }
}

/// At least one: a report at every moment would leave no time to search.
fn centiseconds(text: &str) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    (0.0..=1e9).contains(&number).then(|| Duration::from_secs_f64(number.max(1.0) / 100.0))
}

fn count(text: &str) -> Result<usize, GtpError> {
    text.parse().map_err(|_| GtpError::Syntax)
}

fn flag(text: &str) -> Result<bool, GtpError> {
    text.to_ascii_lowercase().parse().map_err(|_| GtpError::Syntax)
}

/// `C3,D4,pass`, and Leela Zero's rectangles `C3:E5`.
fn actions(size: BoardSize, text: &str) -> Result<Vec<usize>, GtpError> {
    let mut actions = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let Some((first, last)) = part.split_once(':') else {
            actions.push(size.action(size.parse_vertex(part)?));
            continue;
        };
        let (a, b) = (size.parse_point(first)?, size.parse_point(last)?);
        let span = |x: usize, y: usize| x.min(y)..=x.max(y);
        for row in span(size.row(a), size.row(b)) {
            for col in span(size.col(a), size.col(b)) {
                actions.push(size.action(Move::Play(size.point(col, row))));
            }
        }
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Wanted, GtpError> {
        let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Wanted::parse(BoardSize::square(9).unwrap(), &args)
    }

    #[test]
    fn player_and_interval_are_optional_and_in_any_of_their_places() {
        for text in ["", "b", "50", "w 50", "w interval 50", "interval 50 rootInfo true"] {
            parse(text).unwrap();
        }
        let wanted = parse("W 25 minmoves 3 maxmoves 7 pvVisits true ownership false").unwrap();
        assert_eq!(wanted.player, Some(Color::White));
        assert_eq!(wanted.interval, Some(Duration::from_millis(250)));
        assert_eq!((wanted.min_moves, wanted.max_moves), (3, 7));
        assert!(wanted.pv_visits && !wanted.ownership);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "x",
            "-5",
            "b 50 dance true",
            "interval",
            "avoid b C3",
            "avoid b Z9 1",
            "ownership maybe",
            "allow b C3 1 avoid b D4 1",
            "allow b C3 1 allow b D4 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("avoid b C3,D4,pass 1 avoid w A1:C3 2").is_ok());
        assert_eq!(actions(BoardSize::square(9).unwrap(), "A1:C3").unwrap().len(), 9);
    }
}
