//! Any bytes as a stored game, and any content behind an honest header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tengen_record::{decode, encode};

/// A blob with the right magic, version, length and checksum around any frame.
fn framed(content: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(content, 1).expect("zstd compresses any bytes");
    let length = (content.len() as u32).to_le_bytes();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[1]);
    hasher.update(&length);
    hasher.update(&packed);
    let checksum = hasher.finalize().to_le_bytes();
    [b"TGNR\x01".as_slice(), &length, &checksum, &packed].concat()
}

fuzz_target!(|bytes: &[u8]| {
    // Raw, then as the content that only a forger could have framed.
    for blob in [bytes.to_vec(), framed(bytes)] {
        let Ok(record) = decode(&blob) else { continue };
        let again = decode(&encode(&record)).expect("what was encoded decodes");
        // NaNs are equal to nothing, so the bytes are compared.
        assert_eq!(encode(&again), encode(&record));
        let _ = record.validate();
    }
});
