//! What a node does to the board: stones set up, then moves.

use tengen_rules::Color;

use super::error::SgfError;
use super::place::Place;
use super::tree::{Property, SgfNode};
use super::value::{Grid, Spot, read_color};

/// One node's doings. Setup comes before moves, wherever the properties stand in the node.
#[derive(Debug, Default)]
pub(crate) struct Actions {
    /// `AB`, `AW`, `AE` in file order; `None` empties the point.
    pub edits: Vec<(Spot, Option<Color>)>,
    /// `PL`.
    pub to_play: Option<Color>,
    /// `B` and `W` with their places in the file; `None` is a pass.
    pub moves: Vec<(Color, Option<Spot>, Place)>,
}

impl Actions {
    /// # Errors
    /// When a value is no point of the board, or points are listed many times over.
    pub(crate) fn read(node: &SgfNode, grid: Grid) -> Result<Actions, SgfError> {
        let mut actions = Actions::default();
        for property in &node.properties {
            match &*property.name {
                "B" => actions.read_moves(property, Color::Black, grid)?,
                "W" => actions.read_moves(property, Color::White, grid)?,
                "AB" => actions.read_stones(property, Some(Color::Black), grid)?,
                "AW" => actions.read_stones(property, Some(Color::White), grid)?,
                "AE" => actions.read_stones(property, None, grid)?,
                "PL" => actions.to_play = property.raw.first().and_then(|raw| read_color(raw)),
                _ => {}
            }
        }
        Ok(actions)
    }

    /// Whether stones are set up or the turn is given by `PL`.
    pub(crate) fn is_setup(&self) -> bool {
        !self.edits.is_empty() || self.to_play.is_some()
    }

    fn read_moves(
        &mut self,
        property: &Property,
        color: Color,
        grid: Grid,
    ) -> Result<(), SgfError> {
        for raw in &property.raw {
            let spot = grid.read_move(raw).map_err(|why| property.refuse(raw, why))?;
            self.moves.push((color, spot, property.place));
        }
        Ok(())
    }

    fn read_stones(
        &mut self,
        property: &Property,
        stone: Option<Color>,
        grid: Grid,
    ) -> Result<(), SgfError> {
        for raw in property.raw.iter().filter(|raw| !raw.trim().is_empty()) {
            let spots = grid.read_rectangle(raw).map_err(|why| property.refuse(raw, why))?;
            self.edits.extend(spots.map(|spot| (spot, stone)));
            // Rectangles are short to write and long to list.
            if self.edits.len() > 16 * grid.area() {
                return Err(property.refuse(raw, "more points than the board holds"));
            }
        }
        Ok(())
    }
}
