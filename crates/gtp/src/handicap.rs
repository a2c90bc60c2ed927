//! Where handicap stones go.

use tengen_rules::{BoardSize, Point};

/// The most stones the draft's table has for a board: nine on odd boards from 9×9, four on even
/// ones and with a side of 7, none below.
pub(crate) fn fixed_limit(size: BoardSize) -> usize {
    let (w, h) = (size.width(), size.height());
    match w.min(h) {
        0..=6 => 0,
        7 | 8 => 4,
        _ if w % 2 == 0 || h % 2 == 0 => 4,
        _ => 9,
    }
}

/// The draft's points for `count` stones, or `None` where it has none.
pub(crate) fn fixed(size: BoardSize, count: usize) -> Option<Vec<Point>> {
    if !(2..=fixed_limit(size)).contains(&count) {
        return None;
    }
    let (w, h) = (size.width(), size.height());
    // The fourth line from 13×13 on, the third below.
    let line = |side: usize| if side >= 13 { 3 } else { 2 };
    let (left, middle, right) = (line(w), w / 2, w - 1 - line(w));
    let (top, centre, bottom) = (line(h), h / 2, h - 1 - line(h));
    let corners = [(left, bottom), (right, top), (left, top), (right, bottom)];
    let sides = [(left, centre), (right, centre), (middle, bottom), (middle, top)];
    let mut places: Vec<(usize, usize)> =
        corners.iter().chain(&sides).copied().take(count & !1).collect();
    if count % 2 == 1 {
        places.push(if count == 3 { corners[2] } else { (middle, centre) });
    }
    Some(places.into_iter().map(|(col, row)| size.point(col, row)).collect())
}

/// This engine's own choice for `count` stones, fewer than the board has points: the table as far
/// as it goes, then the points nearest to the centre.
pub(crate) fn free(size: BoardSize, count: usize) -> Vec<Point> {
    let table = count.min(fixed_limit(size));
    let mut chosen = fixed(size, table).unwrap_or_default();
    let (w, h) = (size.width(), size.height());
    let mut rest: Vec<Point> = size.points().collect();
    rest.sort_by_key(|&p| (2 * size.col(p) + 1).abs_diff(w) + (2 * size.row(p) + 1).abs_diff(h));
    for point in rest {
        if chosen.len() < count && !chosen.contains(&point) {
            chosen.push(point);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::Move;

    fn names(side: usize, count: usize) -> String {
        let size = BoardSize::square(side).unwrap();
        let points = fixed(size, count).unwrap();
        points.iter().map(|&p| size.vertex(Move::Play(p))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_table_of_the_draft() {
        assert_eq!(names(19, 2), "D4 Q16");
        assert_eq!(names(19, 3), "D4 Q16 D16");
        assert_eq!(names(19, 5), "D4 Q16 D16 Q4 K10");
        assert_eq!(names(19, 7), "D4 Q16 D16 Q4 D10 Q10 K10");
        assert_eq!(names(19, 9), "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10");
        assert_eq!(names(13, 2), "D4 K10");
        assert_eq!(names(9, 5), "C3 G7 C7 G3 E5");
        assert_eq!(names(7, 4), "C3 E5 C5 E3");
        for (side, count) in [(19, 1), (19, 10), (8, 5), (7, 5), (6, 2), (18, 5)] {
            assert_eq!(fixed(BoardSize::square(side).unwrap(), count), None, "{side} {count}");
        }
    }

    #[test]
    fn free_places_as_many_as_asked() {
        for (side, count) in [(2, 3), (5, 4), (9, 30), (19, 4)] {
            let mut points = free(BoardSize::square(side).unwrap(), count);
            points.sort();
            points.dedup();
            assert_eq!(points.len(), count);
        }
    }
}
