//! The layouts of planes a network can be trained on.

/// A layout of input planes, named in every network's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeatureSet {
    /// AlphaGo Zero's 17 planes (Silver et al. 2017): planes 0–7 are the player to move's stones
    /// now, one ply ago, … seven plies ago; 8–15 the opponent's; 16 is all ones if Black is to
    /// play and all zeros otherwise. Boards before the first one are all zeros.
    #[default]
    Agz,
}

impl FeatureSet {
    /// The name stored in network files and configs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agz => "agz-1",
        }
    }

    /// Number of input planes.
    pub const fn planes(self) -> usize {
        match self {
            Self::Agz => 17,
        }
    }

    /// Number of inputs without a place on the board: none in AlphaGo Zero's set.
    pub const fn globals(self) -> usize {
        match self {
            Self::Agz => 0,
        }
    }

    /// The set called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        (name == Self::Agz.name()).then_some(Self::Agz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_strangers_are_refused() {
        assert_eq!(FeatureSet::from_name(FeatureSet::Agz.name()), Some(FeatureSet::Agz));
        assert_eq!(FeatureSet::from_name("agz-9"), None);
    }
}
