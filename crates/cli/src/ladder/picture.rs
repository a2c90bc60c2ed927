//! `ladder.svg`: strength against games, steps, hours and, where known, energy.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use serde_json::Value;

/// A rated network at one place of an axis.
struct Spot {
    x: f64,
    elo: f64,
    low: f64,
    high: f64,
}

/// Draws the rows of a ladder; anchors are level lines.
pub fn draw(rows: &[Value], path: &Path) -> Result<()> {
    let mut axes =
        vec![("selfplay_games", "self-play games"), ("step", "training steps"), ("hours", "hours")];
    if rows.iter().any(|row| row["kwh"].is_number()) {
        axes.push(("kwh", "kWh"));
    }
    let root = SVGBackend::new(path, (400 * axes.len() as u32, 420)).into_drawing_area();
    let drawn = || -> std::result::Result<(), Box<dyn std::error::Error>> {
        root.fill(&WHITE)?;
        for (area, (key, title)) in root.split_evenly((1, axes.len())).iter().zip(&axes) {
            panel(area, rows, key, title)?;
        }
        root.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    rows: &[Value],
    key: &str,
    title: &str,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let number = |row: &Value, key: &str| row[key].as_f64();
    let mut spots: Vec<Spot> = rows
        .iter()
        .filter_map(|row| {
            Some(Spot {
                x: number(row, key)?,
                elo: number(row, "elo")?,
                low: number(row, "elo_low")?,
                high: number(row, "elo_high")?,
            })
        })
        .collect();
    spots.sort_by(|a, b| a.x.total_cmp(&b.x));
    let anchors: Vec<(&str, f64)> = rows
        .iter()
        .filter(|row| row["anchor"] == true)
        .filter_map(|row| Some((row["player"].as_str()?, number(row, "elo")?)))
        .collect();
    let right = spots.iter().map(|s| s.x).fold(1e-3, f64::max) * 1.03;
    let all = || spots.iter().flat_map(|s| [s.low, s.high]).chain(anchors.iter().map(|a| a.1));
    let (low, high) = (all().fold(0.0, f64::min) - 50.0, all().fold(100.0, f64::max) + 50.0);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..right, low..high)?;
    chart.configure_mesh().x_desc(title).y_desc("Elo, with 95 % intervals").x_labels(5).draw()?;
    chart.draw_series(
        spots.iter().map(|s| PathElement::new(vec![(s.x, s.low), (s.x, s.high)], BLACK.mix(0.3))),
    )?;
    chart.draw_series(LineSeries::new(spots.iter().map(|s| (s.x, s.elo)), &BLUE))?;
    chart.draw_series(spots.iter().map(|s| Circle::new((s.x, s.elo), 3, BLUE.filled())))?;
    for (name, elo) in anchors {
        chart.draw_series(LineSeries::new([(0.0, elo), (right, elo)], &RED))?;
        let style = ("sans-serif", 12).into_font().color(&RED);
        chart.draw_series([Text::new(name.to_owned(), (right * 0.02, elo), style)])?;
    }
    Ok(())
}
