-- PostgreSQL only: a game has 262144 bytes at most, as one of 19×19 may need more than 65536; the games of a call
-- 16777216 together (see 0006).
CREATE OR REPLACE FUNCTION submit_uploads(a_worker TEXT, a_ids BYTEA[], a_counters BIGINT[], a_networks TEXT[],
                               a_payloads BYTEA[], a_hashes BYTEA[])
RETURNS TABLE (status TEXT, accepted BIGINT, already_there BIGINT, quarantined BIGINT)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    n BIGINT := coalesce(cardinality(a_ids), 0);
    told TEXT := worker_gate(a_worker);
    took BIGINT;
    bad BIGINT;
    faults BIGINT;
    standing TEXT;
    due TEXT;
BEGIN
    IF told = 'ok' AND (n > 256 OR n <> ALL (ARRAY[cardinality(a_counters), cardinality(a_networks),
                                                  cardinality(a_payloads), cardinality(a_hashes)])) THEN
        told := 'refused: 256 games a call at most, each with all its parts';
    ELSIF told = 'ok' AND EXISTS (
            SELECT 1 FROM unnest(a_ids, a_counters, a_networks, a_payloads, a_hashes) AS u (id, counter, network, payload, hash)
            WHERE (length(id) = 16 AND counter >= 0 AND length(network) <= 128
                   AND length(payload) <= 262144 AND length(hash) = 32) IS NOT TRUE) THEN
        told := 'refused: a game has 262144 bytes at most, an id of 16 and a hash of 32';
    END IF;
    IF told = 'ok' AND (SELECT sum(length(payload)) FROM unnest(a_payloads) AS u (payload)) > 16777216 THEN
        told := 'refused: 16777216 bytes of games a call at most';
    END IF;
    IF told <> 'ok' THEN
        RETURN QUERY SELECT told, CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT);
        RETURN;
    END IF;

    INSERT INTO uploads (game_id, worker, counter, network, payload, payload_hash, created_us)
    SELECT u.id, a_worker, u.counter, u.network, u.payload, u.hash, clock_us()
    FROM unnest(a_ids, a_counters, a_networks, a_payloads, a_hashes) WITH ORDINALITY
        AS u (id, counter, network, payload, hash, place)
    WHERE NOT EXISTS (SELECT 1 FROM games AS g WHERE g.worker = a_worker AND g.counter = u.counter)
      AND NOT EXISTS (SELECT 1 FROM quarantine AS q WHERE q.worker = a_worker AND q.counter = u.counter)
    ORDER BY u.place
    ON CONFLICT (worker, counter) DO NOTHING;
    GET DIAGNOSTICS took = ROW_COUNT;

    -- What is now known under the same number with other bytes only.
    WITH aside AS (
        INSERT INTO quarantine (game_id, worker, counter, network, reason, payload, payload_hash, created_us)
        SELECT DISTINCT ON (u.counter, u.hash) u.id, a_worker, u.counter, u.network,
            'handed in before with other bytes', u.payload, u.hash, clock_us()
        FROM unnest(a_ids, a_counters, a_networks, a_payloads, a_hashes) AS u (id, counter, network, payload, hash)
        WHERE NOT EXISTS (SELECT 1 FROM uploads AS k WHERE k.worker = a_worker AND k.counter = u.counter AND k.payload_hash = u.hash)
          AND NOT EXISTS (SELECT 1 FROM games AS k WHERE k.worker = a_worker AND k.counter = u.counter AND k.payload_hash = u.hash)
          AND NOT EXISTS (SELECT 1 FROM quarantine AS k WHERE k.worker = a_worker AND k.counter = u.counter AND k.payload_hash = u.hash)
        RETURNING quarantine_id
    ), noted AS (
        INSERT INTO events (at_us, kind, detail_json)
        SELECT clock_us(), 'game-quarantined', format('{"quarantine":%s}', quarantine_id) FROM aside
        RETURNING 1
    )
    SELECT count(*) INTO bad FROM noted;
    IF bad > 0 THEN
        UPDATE workers SET refused = refused + bad WHERE name = a_worker RETURNING refused, state INTO faults, standing;
        due := CASE WHEN faults >= 10 THEN 'blocked' WHEN faults >= 3 THEN 'suspect' ELSE 'ok' END;
        IF due NOT IN ('ok', standing) THEN
            UPDATE workers SET state = due WHERE name = a_worker;
            INSERT INTO events (at_us, kind, detail_json)
            VALUES (clock_us(), 'worker-' || due, format('{"worker":"%s","refused":%s}', a_worker, faults));
        END IF;
    END IF;
    RETURN QUERY SELECT told, took, n - took - bad, bad;
END $$;

CREATE OR REPLACE FUNCTION finish_block(a_worker TEXT, a_match BIGINT, a_block BIGINT, a_epoch BIGINT,
                             a_pairs BIGINT[], a_colours BIGINT[], a_payloads BYTEA[], a_hashes BYTEA[])
RETURNS TABLE (status TEXT, kept BOOLEAN)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := worker_gate(a_worker);
    n BIGINT := coalesce(cardinality(a_pairs), 0);
    first_pair BIGINT := a_block * 8;
    end_pair BIGINT;
    played BIGINT;
BEGIN
    IF told <> 'ok' THEN
        RETURN QUERY SELECT told, false;
        RETURN;
    END IF;
    PERFORM 1 FROM match_blocks AS b
    WHERE b.match_id = a_match AND b.block = a_block AND b.worker = a_worker AND b.epoch = a_epoch
        AND b.state = 'leased'
        AND (SELECT m.verdict FROM matches AS m WHERE m.match_id = b.match_id) IS NULL
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT told, false;
        RETURN;
    END IF;
    SELECT least(first_pair + 8, m.pairs_planned) INTO end_pair FROM matches AS m WHERE m.match_id = a_match;
    IF n > 16 OR n <> ALL (ARRAY[cardinality(a_colours), cardinality(a_payloads), cardinality(a_hashes)])
       OR EXISTS (
            SELECT 1 FROM unnest(a_pairs, a_colours, a_payloads, a_hashes) AS u (pair, colour, payload, hash)
            WHERE (pair >= first_pair AND pair < end_pair AND colour IN (0, 1)
                   AND length(payload) <= 262144 AND length(hash) = 32) IS NOT TRUE) THEN
        RETURN QUERY SELECT 'refused: a block''s games have its pairs, the colours 0 and 1, and 262144 bytes at most', false;
        RETURN;
    END IF;
    INSERT INTO match_uploads AS k (match_id, pair, colour, worker, payload, payload_hash, created_us)
    SELECT DISTINCT ON (u.pair, u.colour) a_match, u.pair, u.colour, a_worker, u.payload, u.hash, clock_us()
    FROM unnest(a_pairs, a_colours, a_payloads, a_hashes) WITH ORDINALITY AS u (pair, colour, payload, hash, place)
    ORDER BY u.pair, u.colour, u.place DESC
    ON CONFLICT (match_id, pair, colour) DO UPDATE SET worker = excluded.worker, payload = excluded.payload,
        payload_hash = excluded.payload_hash, created_us = excluded.created_us;
    played := cardinality(block_slots(a_match, first_pair, end_pair));
    UPDATE match_blocks AS b SET until_us = 0,
        state = CASE WHEN played < 2 * (end_pair - first_pair) THEN 'ready' ELSE 'done' END,
        attempts = CASE WHEN n > 0 THEN 0 ELSE b.attempts END
    WHERE b.match_id = a_match AND b.block = a_block;
    RETURN QUERY SELECT told, true;
END $$;
