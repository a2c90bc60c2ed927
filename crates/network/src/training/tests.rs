//! The kernels against their definitions, and the whole pass against burn's.

use burn::tensor::{Tensor, TensorData};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::body::Body;
use super::grid::Grid;
use super::kernels;
use super::loops::Shape;
use super::*;
use tengen_features::FeatureSet;

use crate::fixture::everything;
use crate::{DeviceKind, HostTensor};

fn random(rng: &mut ChaCha8Rng, length: usize) -> Vec<f32> {
    (0..length).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// That no number is further from the one expected than `tolerance` times the largest of these.
fn close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f32, |a, b| a.max(b.abs())).max(1e-3);
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        let distance = (a - b).abs() / scale;
        assert!(distance <= tolerance, "{what}, number {index}: {a} against {b}");
    }
}

#[test]
fn each_kernel_convolves_and_takes_gradients_as_defined() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kernel in Kernel::available() {
        for (inputs, outputs, count) in [(17, 32, 9), (5, 96, 9), (32, 32, 1), (1, 32, 9)] {
            let outputs = usize::next_multiple_of(outputs, kernel.block());
            let grid = Grid::new(3, 5, 4);
            let taps = grid.taps(count);
            let shape = Shape { taps: &taps, inputs, x_stride: inputs + 2, out_stride: outputs };
            let x = random(&mut rng, grid.len * shape.x_stride);
            let w = random(&mut rng, count * inputs * outputs);
            let dz = random(&mut rng, grid.len * outputs);
            let start = random(&mut rng, grid.len * outputs);
            let (mut out, mut dw) = (start.clone(), w.clone());
            for points in grid.points.chunks(grid.area) {
                kernels::convolve(kernel, &shape, points, &x, &w, true, &mut out);
                kernels::weight_gradient(kernel, &shape, points, &x, &dz, &mut dw);
            }
            let (mut expected, mut expected_dw) = (start, w.clone());
            let block = kernel.block();
            for &point in &grid.points {
                for (row, output) in
                    (0..count * inputs).flat_map(|row| (0..outputs).map(move |o| (row, o)))
                {
                    let (tap, input) = (row / inputs, row % inputs);
                    let from = point.wrapping_add_signed(taps[tap]) * shape.x_stride + input;
                    let packed = (output / block * count * inputs + row) * block + output % block;
                    expected[point * outputs + output] += x[from] * w[packed];
                    expected_dw[row * outputs + output] += x[from] * dz[point * outputs + output];
                }
            }
            close(&out, &expected, 1e-5, &format!("{} forward", kernel.name()));
            close(&dw, &expected_dw, 1e-5, &format!("{} weights", kernel.name()));
            let first = grid.points[0] * outputs..(grid.points[0] + 1) * outputs;
            let (mut once, mut twice) = (dz.clone(), dz);
            kernels::convolve(kernel, &shape, &grid.points[..1], &x, &w, false, &mut once);
            kernels::convolve(kernel, &shape, &grid.points[..1], &x, &w, false, &mut twice);
            kernels::convolve(kernel, &shape, &grid.points[..1], &x, &w, true, &mut twice);
            let doubled: Vec<f32> = once[first.clone()].iter().map(|x| 2.0 * x).collect();
            close(&twice[first], &doubled, 1e-5, "written, then added");
        }
    }
}

fn config(blocks: usize, channels: usize) -> NetworkConfig {
    NetworkConfig {
        blocks,
        channels,
        policy_channels: 3,
        value_channels: 4,
        value_hidden: 5,
        ..NetworkConfig::default()
    }
}

/// Weights with a normalisation that is not the identity.
fn weights(config: &NetworkConfig) -> Weights {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut weights = config.init_weights(7).unwrap();
    for (name, tensor) in &mut weights.0 {
        for x in &mut tensor.data {
            match name.rsplit('.').next().unwrap() {
                "gamma" => *x = rng.random_range(0.5..1.5),
                "beta" | "bias" => *x = rng.random_range(-0.5..0.5),
                _ => {}
            }
        }
    }
    weights
}

fn planes(config: &NetworkConfig, shape: [usize; 3]) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let count = config.features().unwrap().planes() * shape.iter().product::<usize>();
    (0..count).map(|_| f32::from(u8::from(rng.random_bool(0.3)))).collect()
}

fn globals(config: &NetworkConfig, batch: usize) -> Vec<f32> {
    random(&mut ChaCha8Rng::seed_from_u64(10), batch * config.features().unwrap().globals())
}

/// A loss in which every output has its own weight.
fn loss(output: &NetOutput) -> Tensor<1> {
    let ramp = |x: &Tensor<2>| {
        let [rows, columns] = x.dims();
        let ramp = (0..rows * columns).map(|i| (i as f32 * 0.37).sin()).collect::<Vec<f32>>();
        let ramp = Tensor::from_data(TensorData::new(ramp, [rows, columns]), &x.device());
        (x.clone() * ramp).sum()
    };
    let sum = ramp(&output.policy_logits) + (output.value.clone() - 0.3).square().sum();
    let tables = [
        &output.opponent_logits,
        &output.soft_logits,
        &output.ownership_logits,
        &output.short_term,
    ];
    let sum = tables.into_iter().flatten().fold(sum, |sum, table| sum + ramp(table));
    match &output.score {
        Some(score) => {
            sum + (score.mean.clone() / 20.0 - 0.3).square().sum()
                + (score.stdev.clone() / 20.0 - 0.5).square().sum()
        }
        None => sum,
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data_as::<f32>().try_into_vec().unwrap()
}

#[test]
fn outputs_gradients_and_statistics_agree_with_burns_for_every_kind_of_layer() {
    let device = DeviceKind::Cpu.training_device().unwrap();
    // Without blocks, with; channels that fill a block and that don't; more boards than slots.
    for (blocks, channels, shape) in
        [(0, 8, [3, 5, 4]), (1, 32, [5, 6, 6]), (2, 20, [37, 4, 4]), (3, 32, [16, 7, 7])]
    {
        compare(config(blocks, channels), shape, &device);
        compare(everything(config(blocks, channels)), shape, &device);
        let go = NetworkConfig {
            pooling_channels: channels - 1,
            feature_set: FeatureSet::Go.name().to_owned(),
            global_inputs: true,
            ..everything(config(blocks, channels))
        };
        compare(go, shape, &device);
    }
}

/// Holds our pass to burn's, on every kernel.
fn compare(config: NetworkConfig, shape: [usize; 3], device: &Device) {
    let (blocks, channels) = (config.blocks, config.channels);
    let (weights, planes) = (weights(&config), planes(&config, shape));
    let [batch, height, width] = shape;
    let globals = globals(&config, batch);
    let count = config.features().unwrap().planes();
    let given = (!globals.is_empty()).then(|| {
        let data = TensorData::new(globals.clone(), [batch, globals.len() / batch]);
        Tensor::<2>::from_data(data, device)
    });

    let net = Net::from_weights(&config, &weights, device).unwrap();
    let data = TensorData::new(planes.clone(), [batch, count, height, width]);
    let expected = net.forward(Tensor::<4>::from_data(data, device), given);
    let expected_gradients = net.gradients(&loss(&expected).backward());
    let expected_after = net.to_weights();

    for kernel in Kernel::available() {
        let mut training = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
        training.backbone = Backbone::Native(Body::new(&config, kernel).unwrap());
        let traced = training.forward(&weights, &planes, &globals, shape).unwrap();
        let gradients = training.gradients(&traced, &loss(&traced.output).backward()).unwrap();
        let mut after = weights.clone();
        training.move_statistics(&traced, &mut after).unwrap();

        let what = format!("{}, {blocks} blocks, {channels} channels", kernel.name());
        let policy = |output: &NetOutput| numbers(output.policy_logits.clone());
        close(&policy(&traced.output), &policy(&expected), 1e-4, &what);
        let value = |output: &NetOutput| numbers(output.value.clone());
        close(&value(&traced.output), &value(&expected), 1e-4, &what);
        assert!(gradients.0.keys().eq(expected_gradients.0.keys()), "{what}");
        for (name, expected) in &expected_gradients.0 {
            let found = &gradients.0[name];
            assert_eq!(found.shape, expected.shape, "{what}: {name}");
            close(&found.data, &expected.data, 1e-4, &format!("{what}: {name}"));
        }
        for (name, expected) in &expected_after.0 {
            let found = &after.0[name];
            close(&found.data, &expected.data, 1e-5, &format!("{what}: {name}"));
        }
    }
}

#[test]
fn one_batch_gives_the_same_bits_on_any_number_of_threads_and_after_any_other_batch() {
    let mut config = everything(config(2, 16));
    config.feature_set = FeatureSet::Go.name().to_owned();
    config.global_inputs = true;
    let (weights, shape) = (weights(&config), [19, 5, 5]);
    let run = |training: &mut TrainingNet| {
        let traced = training
            .forward(&weights, &planes(&config, shape), &globals(&config, shape[0]), shape)
            .unwrap();
        let gradients = training.gradients(&traced, &loss(&traced.output).backward()).unwrap();
        let mut after = weights.clone();
        training.move_statistics(&traced, &mut after).unwrap();
        (gradients, after)
    };
    let mut training = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
    let expected = run(&mut training);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut other = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
        assert_eq!(pool.install(|| run(&mut other)), expected);
    }
    for other in [[19, 5, 5], [4, 3, 7]] {
        training
            .forward(&weights, &planes(&config, other), &globals(&config, other[0]), other)
            .unwrap();
        assert_eq!(run(&mut training), expected);
    }
}

#[test]
fn planes_that_are_no_batch_of_the_shape_and_weights_of_another_net_are_refused() {
    let config = config(1, 8);
    let weights = weights(&config);
    let mut training = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
    for (length, shape) in [(17 * 9 - 1, [1, 3, 3]), (0, [0, 3, 3]), (17 * 9, [1, 3, 4])] {
        let error = training.forward(&weights, &vec![0.0; length], &[], shape).unwrap_err();
        assert!(matches!(error, NetworkError::WrongShape { .. }), "{error}");
    }
    let error = training.forward(&weights, &[0.0; 17 * 9], &[0.5], [1, 3, 3]).unwrap_err();
    assert!(error.to_string().contains("globals"), "{error}");
    let foreign = NetworkConfig { channels: 9, ..config }.init_weights(1).unwrap();
    let error = training.forward(&foreign, &[0.0; 17 * 9], &[], [1, 3, 3]).unwrap_err();
    assert!(matches!(error, NetworkError::WrongShape { .. }), "{error}");
}

#[test]
fn a_number_that_is_none_reaches_the_loss() {
    let config = config(1, 8);
    let weights = weights(&config);
    let mut training = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
    let mut planes = planes(&config, [2, 3, 3]);
    planes[0] = f32::NAN;
    let traced = training.forward(&weights, &planes, &[], [2, 3, 3]).unwrap();
    assert!(numbers(loss(&traced.output))[0].is_nan());
}

/// The loss of a batch, the gradients and the moved weights.
fn step(mut training: TrainingNet, config: &NetworkConfig, shape: [usize; 3]) -> [Weights; 2] {
    let weights = weights(config);
    let planes = planes(config, shape);
    let globals = globals(config, shape[0]);
    let traced = training.forward(&weights, &planes, &globals, shape).unwrap();
    let loss = loss(&traced.output);
    let mut gradients = training.gradients(&traced, &loss.backward()).unwrap();
    gradients.0.insert("the loss".into(), HostTensor { shape: vec![1], data: numbers(loss) });
    let mut after = weights.clone();
    training.move_statistics(&traced, &mut after).unwrap();
    [gradients, after]
}

/// Holds every device to our own pass.
fn agrees(of: impl Fn(&NetworkConfig) -> TrainingNet, what: &str) {
    for (blocks, channels, shape) in [(0, 8, [3, 5, 4]), (3, 32, [16, 7, 7])] {
        let mut all = everything(config(blocks, channels));
        all.feature_set = FeatureSet::Go.name().to_owned();
        all.global_inputs = true;
        for config in [config(blocks, channels), all] {
            let ours = step(TrainingNet::new(&config, DeviceKind::Cpu).unwrap(), &config, shape);
            let theirs = step(of(&config), &config, shape);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!(ours.0.keys().eq(theirs.0.keys()), "{what}");
                for (name, tensor) in &ours.0 {
                    assert_eq!(theirs.0[name].shape, tensor.shape, "{what}: {name}");
                    close(&theirs.0[name].data, &tensor.data, 1e-4, &format!("{what}: {name}"));
                }
            }
        }
    }
}

#[test]
fn a_step_through_burn_alone_is_a_step_of_ours() {
    let through_burn = |device| move |c: &_| TrainingNet::through_burn(c, device).unwrap();
    agrees(through_burn(DeviceKind::Cpu), "burn on flex");
    #[cfg(feature = "burn-tch")]
    agrees(through_burn(DeviceKind::LibtorchCpu), "burn on LibTorch");
}

#[test]
#[cfg(feature = "libtorch")]
fn a_step_on_libtorch_is_a_step_of_ours() {
    agrees(|config| TrainingNet::new(config, DeviceKind::LibtorchCpu).unwrap(), "LibTorch");
}
