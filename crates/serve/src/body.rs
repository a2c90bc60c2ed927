//! Bodies that carry games: the length of a head (four bytes, little-endian), the head (JSON), and
//! the games' payloads one after another, as they are.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tengen_store::{BlockGame, BlockLease, GameId, MAX_GAME_BYTES, Upload};

use crate::limits::MAX_BODY;
use crate::wire::{Game, Games, Slot, Slots};

/// A batch of self-play games as bytes.
pub(crate) fn pack_uploads(worker: &str, uploads: &[Upload]) -> Result<Vec<u8>, String> {
    let game = |upload: &Upload| Game {
        id: upload.id.to_string(),
        counter: upload.counter,
        network: upload.network.clone(),
        bytes: upload.payload.len(),
        hash: hex(&upload.payload_hash),
    };
    let head = Games { worker: worker.to_owned(), games: uploads.iter().map(game).collect() };
    pack(&head, uploads.iter().map(|upload| upload.payload.as_slice()))
}

/// What [`pack_uploads`] packed.
pub(crate) fn unpack_uploads(body: &[u8]) -> Result<Vec<Upload>, String> {
    let (head, mut rest) = unpack::<Games>(body)?;
    let mut uploads = Vec::new();
    for game in head.games {
        let payload = next(&mut rest, game.bytes)?;
        uploads.push(Upload {
            id: game.id.parse::<GameId>().map_err(|error| error.to_string())?,
            worker: head.worker.clone(),
            counter: game.counter,
            network: game.network,
            payload: payload.to_vec(),
            payload_hash: hash(&game.hash)?,
        });
    }
    end(rest)?;
    Ok(uploads)
}

/// The games of a block as bytes.
pub(crate) fn pack_block(lease: &BlockLease, games: &[BlockGame]) -> Result<Vec<u8>, String> {
    let slot = |game: &BlockGame| Slot {
        pair: game.pair,
        colour: game.colour,
        bytes: game.payload.len(),
        hash: hex(&game.payload_hash),
    };
    let head = Slots { lease: lease.into(), games: games.iter().map(slot).collect() };
    pack(&head, games.iter().map(|game| game.payload.as_slice()))
}

/// What [`pack_block`] packed.
pub(crate) fn unpack_block(body: &[u8]) -> Result<(BlockLease, Vec<BlockGame>), String> {
    let (head, mut rest) = unpack::<Slots>(body)?;
    let mut games = Vec::new();
    for slot in head.games {
        let payload = next(&mut rest, slot.bytes)?.to_vec();
        let (pair, colour) = (slot.pair, slot.colour);
        games.push(BlockGame { pair, colour, payload, payload_hash: hash(&slot.hash)? });
    }
    end(rest)?;
    Ok((head.lease.into(), games))
}

fn pack<'a>(
    head: &impl Serialize,
    payloads: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, String> {
    let head = serde_json::to_vec(head).map_err(|error| error.to_string())?;
    let length = u32::try_from(head.len()).map_err(|error| error.to_string())?;
    let mut body = length.to_le_bytes().to_vec();
    body.extend(head);
    for payload in payloads {
        body.extend(payload);
    }
    if body.len() > MAX_BODY {
        return Err(format!(
            "{} bytes in one call, {MAX_BODY} at most; a game has {MAX_GAME_BYTES} at most",
            body.len()
        ));
    }
    Ok(body)
}

fn unpack<T: DeserializeOwned>(body: &[u8]) -> Result<(T, &[u8]), String> {
    let (length, rest) = body.split_first_chunk().ok_or("no head: the body ends at once")?;
    let length = u32::from_le_bytes(*length) as usize;
    let Some((head, rest)) = rest.split_at_checked(length) else {
        return Err(format!("a head of {length} bytes in a body of {}", body.len()));
    };
    let head = serde_json::from_slice(head).map_err(|error| format!("the head: {error}"))?;
    Ok((head, rest))
}

/// The next payload.
fn next<'a>(rest: &mut &'a [u8], bytes: usize) -> Result<&'a [u8], String> {
    let Some((payload, behind)) = rest.split_at_checked(bytes) else {
        return Err(format!("a game of {bytes} bytes, and {} are left of the body", rest.len()));
    };
    *rest = behind;
    Ok(payload)
}

fn end(rest: &[u8]) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("{} bytes behind the last game", rest.len())) }
}

fn hex(hash: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*hash).to_hex().to_string()
}

fn hash(text: &str) -> Result<[u8; 32], String> {
    blake3::Hash::from_hex(text)
        .map(|hash| *hash.as_bytes())
        .map_err(|error| format!("a game's hash: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uploads() -> Vec<Upload> {
        let game = |counter: u64, payload: &[u8]| Upload {
            id: GameId::derive("run", "w", counter),
            worker: "w".to_owned(),
            counter,
            network: "uniform".to_owned(),
            payload: payload.to_vec(),
            payload_hash: *blake3::hash(payload).as_bytes(),
        };
        vec![game(3, b"first"), game(4, b""), game(u64::MAX, b"the last one")]
    }

    #[test]
    fn games_come_out_as_they_went_in() {
        let body = pack_uploads("w", &uploads()).unwrap();
        assert_eq!(unpack_uploads(&body).unwrap(), uploads());
        let lease = BlockLease { match_id: 3, block: 1, worker: "w".to_owned(), epoch: 9 };
        let game = BlockGame { pair: 8, colour: 1, payload: vec![7; 9], payload_hash: [3; 32] };
        let body = pack_block(&lease, std::slice::from_ref(&game)).unwrap();
        assert_eq!(unpack_block(&body).unwrap(), (lease, vec![game]));
    }

    #[test]
    fn cut_short_anywhere_or_with_something_behind_it_it_is_refused() {
        let body = pack_uploads("w", &uploads()).unwrap();
        for length in 0..body.len() {
            assert!(unpack_uploads(&body[..length]).is_err(), "{length}");
        }
        let longer = [&body[..], b"x"].concat();
        assert!(unpack_uploads(&longer).unwrap_err().contains("1 bytes behind"));
    }

    #[test]
    fn lengths_that_promise_too_much_are_refused_without_reserving_memory() {
        for bad in [&[0xff; 4][..], &[0xff; 64], b"\x02\0\0\0{}", b"\0\0\0\0"] {
            assert!(unpack_uploads(bad).is_err(), "{bad:?}");
        }
        let huge = format!(
            r#"{{"worker":"w","games":[{{"id":"{0}","counter":0,"network":"","bytes":{1},"hash":"{0}{0}"}}]}}"#,
            "0".repeat(32),
            usize::MAX
        );
        let body = [&(huge.len() as u32).to_le_bytes()[..], huge.as_bytes()].concat();
        assert!(unpack_uploads(&body).unwrap_err().contains("are left"));
    }

    #[test]
    fn what_no_server_would_take_is_not_sent() {
        let mut games = uploads();
        games[0].payload = vec![0; MAX_BODY];
        assert!(pack_uploads("w", &games).unwrap_err().contains("262144"));
    }
}
