//! The inverse of a small symmetric positive definite matrix.

/// Inverts by Gauss–Jordan elimination; no pivoting is needed for a positive definite matrix.
pub(crate) fn invert(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for k in 0..n {
        let pivot = matrix[k][k];
        for j in 0..n {
            matrix[k][j] /= pivot;
            inverse[k][j] /= pivot;
        }
        let (pivot_row, pivot_inverse) = (matrix[k].clone(), inverse[k].clone());
        for i in (0..n).filter(|&i| i != k) {
            let factor = matrix[i][k];
            for j in 0..n {
                matrix[i][j] -= factor * pivot_row[j];
                inverse[i][j] -= factor * pivot_inverse[j];
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -1.0], vec![0.5, -1.0, 2.0]];
        let inverse = invert(matrix.clone());
        for (i, row) in matrix.iter().enumerate() {
            for (j, one) in [0, 1, 2].map(|j| (j, f64::from(u8::from(i == j)))) {
                let sum: f64 = row.iter().zip(&inverse).map(|(m, line)| m * line[j]).sum();
                assert!((sum - one).abs() < 1e-12);
            }
        }
    }
}
