//! The trainer's promises, on a net of one block and eight channels at 5×5.

use super::step::REFUSALS_BEFORE_END;
use super::*;
use crate::fixture::game;
use std::fs;
use tempfile::{TempDir, tempdir};
use tengen_network::init_seeded;

const SEED: u64 = 20_171_018;

fn network() -> NetworkConfig {
    NetworkConfig {
        blocks: 1,
        channels: 8,
        policy_channels: 4,
        value_channels: 4,
        value_hidden: 8,
        ..NetworkConfig::default()
    }
}

fn config() -> TrainerConfig {
    TrainerConfig {
        batch_size: 16,
        warmup_steps: 2,
        window_min_positions: 60,
        window_max_positions: 60,
        ..TrainerConfig::default()
    }
}

fn record(seq: u64) -> GameRecord {
    game(seq, 5, 20)
}

fn initial() -> Weights {
    seeded(&network())
}

fn seeded(network: &NetworkConfig) -> Weights {
    init_seeded(network, 1, &DeviceKind::Cpu.training_device().unwrap()).unwrap().to_weights()
}

fn open(folder: &TempDir) -> (Trainer, Vec<String>) {
    Trainer::open(folder.path(), &network(), &config(), DeviceKind::Cpu, SEED, &initial()).unwrap()
}

fn ingest(trainer: &mut Trainer, games: u64) {
    for _ in 0..games {
        let seq = trainer.cursor() + 1;
        trainer.ingest(seq, record(seq)).unwrap();
    }
}

/// The games that a store would hand back for the trainer's window.
fn stored(trainer: &Trainer) -> Vec<(u64, GameRecord)> {
    let mut games: Vec<(u64, GameRecord)> = Vec::new();
    let mut positions = 0;
    for seq in (1..=trainer.cursor()).rev() {
        if positions >= trainer.window_capacity() {
            break;
        }
        positions += record(seq).positions();
        games.push((seq, record(seq)));
    }
    games.reverse();
    games
}

fn steps(trainer: &mut Trainer, count: usize) -> Vec<StepReport> {
    let timeless =
        |report: StepReport| StepReport { samples_per_s: 0.0, waiting_share: 0.0, ..report };
    (0..count).map(|_| timeless(trainer.train_step().unwrap())).collect()
}

#[test]
fn on_a_fixed_window_the_loss_falls() {
    let folder = tempdir().unwrap();
    let (mut trainer, warnings) = open(&folder);
    assert_eq!(warnings, Vec::<String>::new());
    ingest(&mut trainer, 6);
    let reports = steps(&mut trainer, 60);
    let mean = |reports: &[StepReport], of: fn(&StepReport) -> f64| {
        reports.iter().map(of).sum::<f64>() / reports.len() as f64
    };
    let (first, last) = (&reports[..3], &reports[40..]);
    // The least possible policy loss is about 1.1 nats: the entropy of 3 to 1, and the quarter
    // spread over a point's symmetric places. Uniform play has 3.2.
    let policy = [first, last].map(|reports| mean(reports, |r| r.policy_loss));
    let value = [first, last].map(|reports| mean(reports, |r| r.value_loss));
    assert!(policy[1] < 0.6 * policy[0], "{policy:?}");
    assert!(value[1] < 0.9 * value[0], "{value:?}");
    assert_eq!(mean(last, |r| r.policy_accuracy), 1.0);
    assert_eq!((trainer.step(), trainer.samples()), (60, 60 * 16));
}

#[test]
fn every_tensor_moves_and_the_running_statistics_follow_the_batches() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 6);
    steps(&mut trainer, 3);
    let after = trainer.weights();
    for (name, before) in &initial().0 {
        assert_ne!(before.data, after.0[name].data, "{name} did not move");
        assert_eq!(before.shape, after.0[name].shape, "{name}");
    }
}

#[test]
fn interrupted_and_resumed_is_uninterrupted_bit_for_bit() {
    let (whole, cut) = (tempdir().unwrap(), tempdir().unwrap());
    let (mut straight, _) = open(&whole);
    let (mut first, _) = open(&cut);
    for trainer in [&mut straight, &mut first] {
        // 90 positions for a window of 60: the window's cut is part of what must come back.
        ingest(trainer, 9);
        steps(trainer, 4);
    }
    first.save_checkpoint().unwrap();
    // Lost with the process: work after the checkpoint.
    steps(&mut first, 1);
    drop(first);

    let (mut second, warnings) = open(&cut);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!((second.step(), second.cursor(), second.samples()), (4, 9, 64));
    assert_eq!(second.positions_seen(), straight.positions_seen());
    let games = stored(&second);
    assert!(games.len() < 9);
    second.reload(kept(games), 0).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        a.extend(steps(&mut straight, 2));
        b.extend(steps(&mut second, 2));
        ingest(&mut straight, 1);
        ingest(&mut second, 1);
    }
    assert_eq!(a, b);
    assert_eq!(straight.weights(), second.weights());
    assert_eq!(straight.optimiser, second.optimiser);
    straight.save_checkpoint().unwrap();
    second.save_checkpoint().unwrap();
    assert_eq!(straight.state, second.state);
}

/// The run that `config` makes of eight games and twelve steps, killed and resumed before the
/// steps in `kills`, each time after a checkpoint and a step that is lost.
fn run_with_kills(config: &TrainerConfig, kills: &[u64]) -> (Weights, Weights) {
    let folder = tempdir().unwrap();
    let open = || {
        let (path, network) = (folder.path(), &network());
        Trainer::open(path, network, config, DeviceKind::Cpu, SEED, &initial()).unwrap().0
    };
    let mut trainer = open();
    ingest(&mut trainer, 7);
    for step in 0..12 {
        if kills.contains(&step) {
            trainer.save_checkpoint().unwrap();
            steps(&mut trainer, 1);
            trainer = open();
            assert_eq!(trainer.step(), step);
            let games = stored(&trainer);
            trainer.reload(kept(games), 0).unwrap();
        }
        if step == 5 {
            ingest(&mut trainer, 1);
        }
        steps(&mut trainer, 1);
    }
    (trainer.weights(), trainer.candidate().unwrap())
}

#[test]
fn killed_at_ten_random_steps_a_run_ends_with_the_same_weights() {
    let all = TrainerConfig {
        optimiser: crate::OptimiserKind::AdamW,
        learning_rate: 0.002,
        average_every_steps: 2,
        held_out_fraction: 0.25,
        draw_by_weight: true,
        drop_steps: vec![4],
        batch_parts: 2,
        ..config()
    };
    for config in [config(), all] {
        let whole = run_with_kills(&config, &[]);
        let mut rng = ChaCha8Rng::seed_from_u64(10);
        let mut kills: Vec<u64> = (0..12).collect();
        while kills.len() > 10 {
            kills.remove(rand::Rng::random_range(&mut rng, 0..kills.len() as u32) as usize);
        }
        assert_eq!(run_with_kills(&config, &kills), whole, "{kills:?}");
        let averages = config.average_every_steps > 0;
        assert_eq!(whole.0 != whole.1, averages, "the candidate is an average where asked for");
    }
}

#[test]
fn a_checkpoint_of_another_optimiser_is_refused_by_name() {
    let folder = tempdir().unwrap();
    drop(open(&folder));
    let adam = TrainerConfig { optimiser: crate::OptimiserKind::AdamW, ..config() };
    let other = Trainer::open(folder.path(), &network(), &adam, DeviceKind::Cpu, SEED, &initial());
    let error = other.err().unwrap();
    assert!(matches!(error, TrainError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("trainer.optimiser back to momentum"), "{error}");
}

#[test]
fn the_cap_on_reuse_names_what_to_change() {
    let folder = tempdir().unwrap();
    let capped = TrainerConfig { reuse_cap: 4.0, held_out_fraction: 0.0, ..config() };
    let (path, network) = (folder.path(), &network());
    let (mut trainer, _) =
        Trainer::open(path, network, &capped, DeviceKind::Cpu, SEED, &initial()).unwrap();
    ingest(&mut trainer, 2);
    // 20 positions, 4 samples each, batches of 16.
    steps(&mut trainer, 5);
    let error = trainer.train_step().unwrap_err();
    assert!(matches!(error, TrainError::ReuseCap { samples: 80, positions: 20, .. }), "{error}");
    assert!(error.to_string().contains("trainer.samples_per_position"), "{error}");
    ingest(&mut trainer, 1);
    steps(&mut trainer, 1);
}

#[test]
fn a_network_of_the_go_planes_learns_from_the_same_games() {
    let folder = tempdir().unwrap();
    let go = NetworkConfig { feature_set: "go-1".to_owned(), ..network() };
    let (mut trainer, _) =
        Trainer::open(folder.path(), &go, &config(), DeviceKind::Cpu, SEED, &seeded(&go)).unwrap();
    ingest(&mut trainer, 6);
    let reports = steps(&mut trainer, 30);
    assert!(reports[29].policy_loss < 0.8 * reports[0].policy_loss, "{reports:?}");
    // The same files are no network of the other set.
    let other =
        Trainer::open(folder.path(), &network(), &config(), DeviceKind::Cpu, SEED, &initial());
    assert!(matches!(other.err().unwrap(), TrainError::Foreign { .. }));
}

#[test]
fn a_batch_in_parts_takes_the_step_of_their_mean() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let of = |folder: &TempDir, batch_parts, batch_size| {
        let config = TrainerConfig { batch_parts, batch_size, ..config() };
        let (path, network) = (folder.path(), &network());
        let (mut trainer, _) =
            Trainer::open(path, network, &config, DeviceKind::Cpu, SEED, &initial()).unwrap();
        ingest(&mut trainer, 6);
        trainer
    };
    let mut parted = of(&folders[0], 2, 16);
    let mut halves = of(&folders[1], 1, 8);
    let step = &steps(&mut parted, 1)[0];
    // The same draws, one half a step; the first step has the same weights before it.
    let first = &steps(&mut halves, 1)[0];
    assert_eq!((parted.samples(), halves.samples()), (16, 8));
    assert!((step.policy_loss - first.policy_loss).abs() < 0.5, "{step:?} {first:?}");
    assert!(step.grad_norm.is_finite() && step.grad_norm > 0.0);
    let reports = steps(&mut parted, 40);
    assert!(reports[39].policy_loss < 0.7 * step.policy_loss, "it learns: {reports:?}");
}

#[test]
fn watched_steps_tell_every_block() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 6);
    let report = &steps(&mut trainer, 1)[0];
    let norms = trainer.block_norms();
    assert_eq!(norms.keys().collect::<Vec<_>>(), ["blocks.0", "policy", "stem", "value"]);
    assert!(norms.values().all(|block| block.update > 0.0 && block.gradient > 0.0), "{norms:?}");
    let whole: f64 = norms.values().map(|block| block.gradient.powi(2)).sum();
    assert!((whole.sqrt() - report.grad_norm).abs() < 1e-6 * report.grad_norm);
    steps(&mut trainer, 1);
    assert!(trainer.block_norms().is_empty(), "the next hundredth step is the next one");
}

#[test]
fn weights_that_became_nan_in_memory_come_back_from_the_checkpoint() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 6);
    steps(&mut trainer, 3);
    trainer.save_checkpoint().unwrap();
    let good = trainer.weights();
    trainer.weights.0.get_mut("stem.conv.weight").unwrap().data[0] = f32::NAN;
    let error = trainer.train_step().unwrap_err();
    assert!(matches!(error, TrainError::NonFinite { step: 3, .. }), "{error}");
    assert!(error.to_string().contains("00000002-step-3 are restored"), "{error}");
    assert_eq!(trainer.weights(), good);
    let report = &steps(&mut trainer, 1)[0];
    assert_eq!(report.learning_rate, config().learning_rate / 2.0);
}

#[test]
fn a_poisoned_batch_is_refused_and_leaves_the_weights_as_they_were() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    let mut poisoned = record(1);
    for turn in &mut poisoned.turns {
        turn.search.as_mut().unwrap().weight = f32::NAN;
    }
    trainer.ingest(1, poisoned).unwrap();
    let error = trainer.train_step().unwrap_err();
    let TrainError::NonFinite { batch, .. } = &error else { panic!("{error}") };
    let kept = crate::tensors::from_bytes(&fs::read(batch).unwrap()).unwrap();
    assert!(kept.0["weight"].data.iter().any(|x| x.is_nan()), "the batch lies there to be seen");
    assert_eq!((trainer.weights(), trainer.step(), trainer.samples()), (initial(), 0, 0));
    // It does not retry for ever.
    let last = (0..20).find_map(|_| match trainer.train_step() {
        Err(TrainError::Diverged { refused, .. }) => Some(refused),
        _ => None,
    });
    assert_eq!(last, Some(REFUSALS_BEFORE_END));
    assert_eq!(trainer.weights(), initial());
}

#[test]
fn a_damaged_newest_checkpoint_is_passed_over_with_a_warning_that_names_it() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 6);
    steps(&mut trainer, 1);
    let good = trainer.save_checkpoint().unwrap();
    let weights = trainer.weights();
    steps(&mut trainer, 1);
    let bad = trainer.save_checkpoint().unwrap();
    let file = bad.join("momentum.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    fs::write(&file, bytes).unwrap();

    let (resumed, warnings) = open(&folder);
    assert_eq!(warnings.len(), 1);
    for named in [bad.to_str().unwrap(), good.to_str().unwrap(), "momentum.safetensors"] {
        assert!(warnings[0].contains(named), "{warnings:?}");
    }
    assert_eq!((resumed.step(), resumed.weights()), (1, weights));
}

#[test]
fn games_enter_in_order_without_gaps_whatever_their_board() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    let error = trainer.train_step().unwrap_err();
    assert!(matches!(error, TrainError::EmptyWindow), "{error}");
    ingest(&mut trainer, 2);
    for seq in [0, 1, 2, 4] {
        let error = trainer.ingest(seq, record(seq)).unwrap_err();
        assert!(matches!(error, TrainError::OutOfOrder { expected: 3, found } if found == seq));
    }
    assert_eq!((trainer.cursor(), trainer.positions_seen()), (2, 20));
    trainer.ingest(3, game(3, 4, 9)).unwrap();
    assert_eq!(trainer.cursor(), 3);
    steps(&mut trainer, 6);
}

#[test]
fn a_resumed_trainer_does_not_step_on_a_window_that_lacks_games() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 9);
    trainer.save_checkpoint().unwrap();
    let (mut resumed, _) = open(&folder);
    let error = resumed.train_step().unwrap_err();
    assert!(matches!(error, TrainError::ReloadTooShort { found: 0, needed: 60 }), "{error}");
    let games = stored(&resumed);
    let short = games[1..].to_vec();
    assert!(matches!(
        resumed.reload(kept(short), 0).unwrap_err(),
        TrainError::ReloadTooShort { .. }
    ));
    let gap: Vec<_> = games.iter().filter(|(seq, _)| *seq != 6).cloned().collect();
    assert!(matches!(
        resumed.reload(kept(gap), 0).unwrap_err(),
        TrainError::OutOfOrder { expected: 6, found: 7 }
    ));
    let early = games[..games.len() - 1].to_vec();
    assert!(matches!(
        resumed.reload(kept(early), 0).unwrap_err(),
        TrainError::OutOfOrder { expected: 9, found: 8 }
    ));
    resumed.reload(kept(games), 0).unwrap();
    resumed.train_step().unwrap();
}

fn kept(games: Vec<(u64, GameRecord)>) -> Vec<(u64, Option<GameRecord>)> {
    games.into_iter().map(|(seq, record)| (seq, Some(record))).collect()
}

#[test]
fn withdrawn_games_are_never_drawn_and_leave_no_gap() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    ingest(&mut trainer, 9);
    let games = stored(&trainer);
    let lost = games[games.len() - 1].1.positions() as u64;
    let mut some = kept(games);
    some.last_mut().unwrap().1 = None;
    assert!(matches!(
        trainer.reload(some.clone(), 0).unwrap_err(),
        TrainError::ReloadTooShort { .. }
    ));
    trainer.reload(some, trainer.positions_seen() - 10).unwrap();
    trainer.train_step().unwrap();
    let before = trainer.window_positions();
    assert!(trainer.pass_over(12, lost).is_err(), "10 comes next");
    trainer.pass_over(10, lost).unwrap();
    assert_eq!((trainer.cursor(), trainer.window_positions()), (10, before));
}

#[test]
fn another_seed_or_another_network_is_refused_by_the_checkpoint() {
    let folder = tempdir().unwrap();
    drop(open(&folder));
    let other =
        Trainer::open(folder.path(), &network(), &config(), DeviceKind::Cpu, SEED + 1, &initial());
    assert!(matches!(other.err().unwrap(), TrainError::Foreign { .. }));
    let wider = NetworkConfig { channels: 9, ..network() };
    let other =
        Trainer::open(folder.path(), &wider, &config(), DeviceKind::Cpu, SEED, &seeded(&wider));
    assert!(matches!(other.err().unwrap(), TrainError::Foreign { .. }));
}

#[test]
fn steps_are_paced_by_the_samples_per_position() {
    let folder = tempdir().unwrap();
    let (mut trainer, _) = open(&folder);
    assert_eq!(trainer.steps_due(), 0);
    ingest(&mut trainer, 2);
    // 20 positions, 4 samples each, batches of 16.
    assert_eq!(trainer.steps_due(), 5);
    steps(&mut trainer, 3);
    assert_eq!(trainer.steps_due(), 2);
}

#[test]
fn batches_made_ahead_are_those_that_would_have_been_drawn() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let [mut ahead, mut plain] = folders.each_ref().map(|folder| open(folder).0);
    for games in [6, 1, 0, 2] {
        for trainer in [&mut ahead, &mut plain] {
            ingest(trainer, games);
        }
        let reports = steps(&mut ahead, 3);
        for report in reports {
            plain.ahead = None;
            assert_eq!(steps(&mut plain, 1), [report]);
        }
        assert_eq!(ahead.rng.get_word_pos(), plain.rng.get_word_pos());
    }
    assert_eq!(ahead.weights(), plain.weights());
}

#[test]
#[cfg(feature = "libtorch")]
fn steps_on_libtorch_have_the_losses_of_steps_on_the_cpu() {
    let losses = [DeviceKind::Cpu, DeviceKind::LibtorchCpu].map(|device| {
        let folder = tempdir().unwrap();
        let (mut trainer, _) =
            Trainer::open(folder.path(), &network(), &config(), device, SEED, &initial()).unwrap();
        ingest(&mut trainer, 6);
        let reports = steps(&mut trainer, 8);
        reports.iter().map(|r| [r.policy_loss, r.value_loss]).collect::<Vec<_>>()
    });
    for (ours, theirs) in losses[0].iter().zip(&losses[1]) {
        for (a, b) in ours.iter().zip(theirs) {
            assert!((a - b).abs() <= 1e-4, "{losses:?}");
        }
    }
    assert_ne!(losses[0][0], losses[0][7], "the weights moved");
}

#[test]
fn further_heads_learn_and_each_reports_its_own_loss() {
    type Term = fn(&StepReport) -> Option<f64>;
    let folder = tempdir().unwrap();
    let network = NetworkConfig {
        ownership: true,
        score: true,
        opponent_policy: true,
        soft_policy: true,
        short_term_values: true,
        pooling_blocks: vec![0],
        policy_pooling: true,
        ..network()
    };
    let config = TrainerConfig { learning_rate: 0.01, ..config() };
    let (mut trainer, _) = Trainer::open(
        folder.path(),
        &network,
        &config,
        DeviceKind::Cpu,
        SEED,
        &network.init_weights(1).unwrap(),
    )
    .unwrap();
    ingest(&mut trainer, 8);
    let reports: Vec<StepReport> = (0..60).map(|_| trainer.train_step().unwrap()).collect();
    let mean = |reports: &[StepReport], of: Term| {
        reports.iter().map(|r| of(r).unwrap()).sum::<f64>() / reports.len() as f64
    };
    let terms: [(&str, Term); 4] = [
        ("ownership", |r| r.auxiliary.ownership_loss),
        ("score", |r| r.auxiliary.score_loss),
        ("soft policy", |r| r.auxiliary.soft_policy_loss),
        ("opponent", |r| r.auxiliary.opponent_policy_loss),
    ];
    for (name, of) in terms {
        let (first, last) = (mean(&reports[..10], of), mean(&reports[50..], of));
        assert!(last < first, "{name}: {first} to {last}");
    }
    let json = serde_json::to_value(&reports[0]).unwrap();
    for key in ["ownership_loss", "score_spread_loss", "short_term_loss"] {
        assert!(json[key].is_f64(), "{json}");
    }
    let parts = reports[0].policy_loss + reports[0].value_loss + reports[0].l2;
    assert!(reports[0].loss > parts + 8.0 * 0.9 * reports[0].auxiliary.soft_policy_loss.unwrap());
}
