//! Named host tensors as safetensors bytes and back, exact to the bit.

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use tengen_network::{HostTensor, Weights};

/// The bytes of a file that holds `weights`; equal tensors give equal bytes.
pub(crate) fn to_bytes(weights: &Weights) -> Result<Vec<u8>, String> {
    let raw: Vec<(&String, &HostTensor, Vec<u8>)> = weights
        .0
        .iter()
        .map(|(name, tensor)| {
            (name, tensor, tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect())
        })
        .collect();
    let mut views = Vec::with_capacity(raw.len());
    for (name, tensor, bytes) in &raw {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)
            .map_err(|error| format!("{name}: {error}"))?;
        views.push((name.as_str(), view));
    }
    serialize(views, None).map_err(|error| error.to_string())
}

/// The tensors in `bytes`.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Weights, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut weights = Weights::default();
    for (name, view) in file.tensors() {
        if view.dtype() != Dtype::F32 {
            return Err(format!("{name} is {:?}, not F32", view.dtype()));
        }
        let (quads, _) = view.data().as_chunks::<4>();
        let data = quads.iter().map(|quad| f32::from_le_bytes(*quad)).collect();
        weights.0.insert(name, HostTensor { shape: view.shape().to_vec(), data });
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_come_back_to_the_bit() {
        let odd =
            HostTensor { shape: vec![2, 2], data: vec![0.1, -0.0, f32::MIN_POSITIVE / 3.0, 1e-38] };
        let weights = Weights(
            [("a.weight".to_owned(), odd.clone()), ("b".to_owned(), HostTensor::full(&[1], 3.5))]
                .into(),
        );
        let back = from_bytes(&to_bytes(&weights).unwrap()).unwrap();
        assert_eq!(back, weights);
        let bits = |t: &HostTensor| t.data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.0["a.weight"]), bits(&odd));
    }
}
