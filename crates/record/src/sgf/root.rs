//! What a root node says about a game: size, komi, rules, handicap, players, result.

use tengen_rules::{BoardSize, Komi, Rules};

use super::error::SgfError;
use super::result::SgfResult;
use super::tree::SgfNode;
use super::value::Grid;

/// The root's facts, read alike for every use.
#[derive(Clone, Debug)]
pub(crate) struct RootFacts {
    pub grid: Grid,
    pub komi: Option<Komi>,
    pub rules: Option<Rules>,
    pub rules_text: Option<String>,
    pub players: [String; 2],
    /// `HA` as stated.
    pub handicap: Option<u32>,
    pub result_text: Option<String>,
    pub result: SgfResult,
    pub notes: Vec<String>,
}

impl RootFacts {
    /// # Errors
    /// When it is not Go, or `SZ` is no board.
    pub(crate) fn read(root: &SgfNode) -> Result<RootFacts, SgfError> {
        if let Some(property) = root.property("GM") {
            let game = root.text("GM").unwrap_or_default();
            if !matches!(game.trim(), "1" | "") {
                return Err(SgfError::NotGo { at: property.place, game });
            }
        }
        let mut facts = RootFacts {
            grid: read_grid(root)?,
            komi: None,
            rules: None,
            rules_text: stated(root, "RU"),
            players: ["PB", "PW"].map(|name| root.text(name).unwrap_or_default()),
            handicap: None,
            result_text: stated(root, "RE"),
            result: SgfResult::default(),
            notes: Vec::new(),
        };
        match stated(root, "KM") {
            Some(text) => facts.read_komi(&text),
            None => facts.notes.push("no komi stated: 0 is taken".to_owned()),
        }
        if let Some(text) = &facts.rules_text {
            facts.rules = rules_named(text);
            if facts.rules.is_none() {
                facts.notes.push(format!("unknown rules RU[{text}]"));
            }
        }
        if let Some(text) = &facts.result_text {
            facts.result = SgfResult::parse(text);
            if facts.result.outcome().is_none() {
                facts.notes.push(format!("result RE[{text}] has no winner and margin to read"));
            }
        }
        match root.number("HA") {
            Ok(Some(number)) => match u32::try_from(number) {
                Ok(number) => facts.handicap = Some(number),
                Err(_) => facts.notes.push(format!("HA[{number}]: no number of stones")),
            },
            Ok(None) => {}
            Err(_) if stated(root, "HA").is_none() => {}
            Err(error) => facts.notes.push(error.message()),
        }
        Ok(facts)
    }

    /// The board that the rules play on.
    ///
    /// # Errors
    /// When it is larger than theirs.
    pub(crate) fn board(&self, root: &SgfNode) -> Result<BoardSize, SgfError> {
        self.grid.board().map_err(|why| match root.property("SZ") {
            Some(property) => property.refuse(property.raw.first().map_or("", |raw| raw), why),
            None => SgfError::NoGame,
        })
    }

    /// Says so where `HA` and the stones set up differ.
    pub(crate) fn note_handicap(&mut self, black: usize, white: usize) {
        let Some(stated) = self.handicap.filter(|&stated| stated > 1) else { return };
        if stated as usize == black {
            return;
        }
        let counts = handicap_stones(self.handicap, black, white);
        self.notes.push(format!(
            "HA[{stated}] but {black} black stones set up: the handicap is {counts}"
        ));
    }

    /// Fox and Tygem write komi in hundredths: of a point (`650` is 6.5), or of a Chinese stone,
    /// which is two points (`375` is 7.5). Nobody plays with a komi of 100; one with decimals
    /// (`200.0`) is taken at its word.
    fn read_komi(&mut self, text: &str) {
        let tidy = text.trim().trim_end_matches(['目', '点']).replace(',', ".");
        let number = tidy.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim();
        let Some(stated) = number.parse::<f64>().ok().filter(|komi| komi.is_finite()) else {
            self.notes.push(format!("KM[{text}] is not a number: 0 is taken"));
            return;
        };
        let is_half = |points: f64| (points * 2.0).fract() == 0.0;
        let is_quarter = |points: f64| (points * 4.0).fract() == 0.0;
        let mut points = stated;
        if stated.abs() >= 100.0 && !number.contains('.') {
            points = stated / 100.0;
            if !is_half(points) {
                points *= 2.0;
            }
            self.notes.push(format!("KM[{text}] read as hundredths: {points} points"));
        } else if stated.abs() < 5.0 && is_quarter(stated) && !is_half(stated) {
            points = stated * 2.0;
            self.notes.push(format!("KM[{text}] read as Chinese stones: {points} points"));
        }
        match Komi::from_points(points) {
            Ok(komi) => self.komi = Some(komi),
            Err(error) => self.notes.push(format!("KM[{text}]: {error}: 0 is taken")),
        }
        if points.abs() > self.grid.area() as f64 {
            self.notes.push(format!("a komi of {points} is more than the board's area"));
        }
    }
}

/// The handicap in stones, 0 where there is none: the black stones set up if there are two or more
/// and no white ones, whatever `HA` says (KataGo counts so too); else `HA`, where 1 is none.
/// `HA` itself places nothing, as the format's specification says.
pub(crate) fn handicap_stones(stated: Option<u32>, black: usize, white: usize) -> u32 {
    if white == 0 && black > 1 {
        return black as u32;
    }
    stated.filter(|&stated| stated > 1).unwrap_or(0)
}

/// A property's text, if it says anything.
fn stated(root: &SgfNode, name: &str) -> Option<String> {
    root.text(name).filter(|text| !text.trim().is_empty())
}

fn read_grid(root: &SgfNode) -> Result<Grid, SgfError> {
    match (root.property("SZ"), stated(root, "SZ")) {
        (Some(property), Some(text)) => Grid::parse(&text).map_err(|e| property.refuse(&text, e)),
        _ => Ok(Grid { width: 19, height: 19 }),
    }
}

/// A rule set by the names that files use: `Chinese`, `GOE` (Ing), `NZ`, `Japanese rules`, ….
fn rules_named(text: &str) -> Option<Rules> {
    let name = text.trim().to_lowercase();
    let name = name.strip_suffix("rules").unwrap_or(&name).trim().replace(' ', "-");
    let name = match name.as_str() {
        "jp" | "jpn" | "japan" | "日本" | "日本ルール" => "japanese",
        "cn" | "zh" | "china" | "中国" | "中国规则" => "chinese",
        "kr" | "korea" | "한국" => "korean",
        "goe" => "ing",
        "tt" | "tromp/taylor" => "tromp-taylor",
        other => other,
    };
    // KataGo's own form is case-sensitive, so the text as written has its turn too.
    Rules::by_name(name).or_else(|_| Rules::by_name(text.trim())).ok()
}
