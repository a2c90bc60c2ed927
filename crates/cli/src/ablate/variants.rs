//! What a baseline is changed into: one switch off, or changes by hand.

use anyhow::{Context, Result, bail};

use crate::config::Config;

/// The baseline's name.
pub const BASELINE: &str = "baseline";

/// Switches by name, and the keys that turn each of them off.
const SWITCHES: [(&str, &str); 20] = [
    ("playout-cap", "selfplay.full_search_fraction=1.0"),
    ("forced-playouts", "search.forced_playouts=0.0"),
    ("gumbel", "search.gumbel=false"),
    ("surprise", "selfplay.surprise_weight=0.0"),
    ("draw-by-weight", "trainer.draw_by_weight=false"),
    ("soft-resign", "selfplay.soft_resign=false"),
    ("resign", "selfplay.resign=false"),
    ("settled", "selfplay.end_when_settled=false"),
    ("komi", "selfplay.komi_stdev=0.0"),
    ("starts", "selfplay.start_positions=\"\""),
    ("forks", "selfplay.fork_fraction=0.0"),
    ("growth", "selfplay.visits_growth_games=0"),
    ("opening", "selfplay.opening_policy_moves=0"),
    ("late-pass", "search.pass_from_ply=0"),
    ("reuse", "selfplay.reuse_tree=false"),
    ("symmetry", "selfplay.symmetry=false"),
    ("noise", "search.dirichlet_fraction=0.0"),
    ("shaped-noise", "search.dirichlet_shaped=0.0"),
    ("fpu", "search.fpu_reduction=0.0"),
    ("dynamic-cpuct", "search.c_puct_stdev_scale=0.0"),
];

/// One run of an ablation.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name, and of its folder.
    pub name: String,
    /// What is different from the baseline, as keys.
    pub change: String,
    /// The run's config.
    pub config: Config,
}

/// The baseline, then a variant for each switch named and for each change by hand; where neither is
/// given, for each switch that `base` has on.
pub fn variants(base: &Config, switches: &[String], by_hand: &[String]) -> Result<Vec<Variant>> {
    let digest = base.digest()?;
    let mut list = vec![Variant {
        name: BASELINE.into(),
        change: "the config as it is".into(),
        config: base.clone(),
    }];
    let known = |name: &str| SWITCHES.iter().find(|(known, _)| *known == name);
    for name in switches {
        let Some((name, change)) = known(name) else {
            let names: Vec<&str> = SWITCHES.iter().map(|(name, _)| *name).collect();
            bail!("--switch {name}: not a switch; known: {}", names.join(", "));
        };
        let variant = changed(base, name, change)?;
        if variant.config.digest()? == digest {
            bail!("--switch {name}: it is off in the config already ({change})");
        }
        list.push(variant);
    }
    if switches.is_empty() && by_hand.is_empty() {
        for (name, change) in SWITCHES {
            let variant = changed(base, name, change)?;
            if variant.config.digest()? != digest {
                list.push(variant);
            }
        }
    }
    for text in by_hand {
        let (name, change) = text
            .split_once(':')
            .with_context(|| format!("--variant {text}: want NAME:section.key=value,…"))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(plain) || list.iter().any(|v| v.name == name) {
            bail!("--variant {text}: the name must be new, of letters, digits, `-` and `_`");
        }
        list.push(changed(base, name, change)?);
    }
    Ok(list)
}

fn changed(base: &Config, name: &str, change: &str) -> Result<Variant> {
    let told = || format!("{name} ({change})");
    let mut table: toml::Table = base.to_toml()?.parse().with_context(told)?;
    for part in change.split(',') {
        let (key, value) = part.split_once('=').with_context(told)?;
        let (section, key) = key.trim().split_once('.').with_context(told)?;
        let line: toml::Table = format!("value = {value}").parse().with_context(told)?;
        let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
        let section = section.as_table_mut().with_context(told)?;
        section.insert(key.to_owned(), line["value"].clone());
    }
    let config = Config::parse(&toml::to_string(&table)?).with_context(told)?;
    Ok(Variant { name: name.into(), change: change.into(), config })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Config {
        Config::parse("[search]\nforced_playouts = 2.0\n[selfplay]\nsurprise_weight = 0.5").unwrap()
    }

    #[test]
    fn what_is_on_is_switched_off_one_at_a_time() {
        let list = variants(&base(), &[], &[]).unwrap();
        let names: Vec<&str> = list.iter().map(|v| v.name.as_str()).collect();
        let expected = [
            "baseline",
            "playout-cap",
            "forced-playouts",
            "surprise",
            "reuse",
            "symmetry",
            "noise",
            "fpu",
        ];
        assert_eq!(names, expected);
        let surprise = &list[3].config;
        assert_eq!(surprise.selfplay.surprise_weight, 0.0);
        assert_eq!(surprise.search.forced_playouts, 2.0, "all else stays");
    }

    #[test]
    fn every_switch_names_keys_that_there_are() {
        for (name, change) in SWITCHES {
            changed(&Config::default(), name, change).unwrap();
        }
    }

    #[test]
    fn changes_by_hand_are_read_and_refused_like_a_config() {
        let by_hand = ["gumbel16:search.gumbel=true,search.visits=16".to_owned()];
        let list = variants(&base(), &["noise".into()], &by_hand).unwrap();
        assert_eq!(list.len(), 3);
        assert!(list[2].config.search.gumbel && list[2].config.search.visits == 16);
        for (text, part) in [
            ("x:search.gumbl=true", "did you mean `gumbel`"),
            ("x:search.visits=0", "search.visits"),
            ("noname", "NAME:section.key=value"),
            ("baseline:search.visits=3", "the name must be new"),
            ("a/b:search.visits=3", "the name must be new"),
            ("x:visits=3", "x (visits=3)"),
        ] {
            let error = format!("{:#}", variants(&base(), &[], &[text.to_owned()]).unwrap_err());
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
        let error = variants(&base(), &["gumbel".into()], &[]).unwrap_err().to_string();
        assert!(error.contains("off in the config already"), "{error}");
        assert!(variants(&base(), &["magic".into()], &[]).is_err());
    }
}
