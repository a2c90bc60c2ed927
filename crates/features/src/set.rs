//! The layouts of inputs a network can be trained on.

use crate::table::count;

/// A layout of inputs, named in every network's file. See [`plane_table`](Self::plane_table) for
/// what each plane means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeatureSet {
    /// AlphaGo Zero's 17 planes (Silver et al. 2017): planes 0–7 are the player to move's stones
    /// now, one ply ago, … seven plies ago; 8–15 the opponent's; 16 is all ones if Black is to
    /// play and all zeros otherwise. Boards before the first one are all zeros.
    #[default]
    Agz,
    /// What a player of Go sees at a glance besides: liberties, ladders, kos, living groups, and as
    /// numbers the komi and the rules, all for the player to move and none for a colour. The
    /// inputs are of the kinds that KataGo has (Wu 2019, appendix A).
    Go,
}

impl FeatureSet {
    /// Every set, the oldest first.
    pub const ALL: [FeatureSet; 2] = [FeatureSet::Agz, FeatureSet::Go];

    /// The name stored in network files and configs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agz => "agz-1",
            Self::Go => "go-1",
        }
    }

    /// Number of input planes: those of the table, then one for each global, which is that number
    /// everywhere, so that a network without another way in for numbers sees them too.
    pub const fn planes(self) -> usize {
        count(self.plane_table()) + self.globals()
    }

    /// Number of inputs without a place on the board: none in AlphaGo Zero's set.
    pub const fn globals(self) -> usize {
        count(self.global_table())
    }

    /// Whether a network of this set can tell games of different komi apart.
    pub const fn sees_komi(self) -> bool {
        match self {
            Self::Agz => false,
            Self::Go => true,
        }
    }

    /// The set called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_strangers_are_refused() {
        for set in FeatureSet::ALL {
            assert_eq!(FeatureSet::from_name(set.name()), Some(set));
        }
        assert_eq!(FeatureSet::from_name("agz-9"), None);
    }

    #[test]
    fn the_tables_count_the_inputs() {
        assert_eq!((FeatureSet::Agz.planes(), FeatureSet::Agz.globals()), (17, 0));
        assert_eq!((FeatureSet::Go.planes(), FeatureSet::Go.globals()), (60, 15));
    }
}
