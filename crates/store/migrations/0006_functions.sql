-- PostgreSQL only: everything that a worker's login may do. It has no right to any table; these
-- functions act for it as their owner, find their tables in this schema alone, and bound what they
-- take. They answer with a status, 'ok' or why not, and do what the crate's Rust does for a run in a file
-- (upstream_store.rs); one suite of tests holds both to the same promises.

-- Microseconds since 1970 by the server's clock.
CREATE FUNCTION clock_us() RETURNS BIGINT LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)
$$;

-- 'ok' if this login may speak for that worker, which must have registered and not be blocked. A name
-- belongs to the login that registered it first, or to all if a trusted process did.
CREATE FUNCTION worker_gate(a_worker TEXT) RETURNS TEXT LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    its RECORD;
BEGIN
    SELECT state, login INTO its FROM workers WHERE name = a_worker;
    IF NOT FOUND THEN
        RETURN format('refused: worker "%s" has not registered', left(a_worker, 64));
    ELSIF its.login NOT IN ('', session_user) THEN
        RETURN 'refused: this worker''s name belongs to another login';
    ELSIF its.state = 'blocked' THEN
        RETURN 'blocked';
    END IF;
    RETURN 'ok';
END $$;

-- How the run stands. Games in the inbox count as played.
CREATE FUNCTION run_row(OUT uid TEXT, OUT config_text TEXT, OUT config_digest TEXT, OUT seed BIGINT,
                        OUT best TEXT, OUT mode TEXT, OUT ahead BOOLEAN)
RETURNS SETOF RECORD LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT r.uid, c.text, r.config_digest, r.seed, r.best, r.mode,
        coalesce(r.last_seq - r.trained_seq
            + (SELECT count(*) FROM (SELECT 1 FROM uploads LIMIT r.ahead_limit) AS waiting)
            >= r.ahead_limit, false)
    FROM runs AS r JOIN configs AS c ON c.digest = r.config_digest
$$;

CREATE FUNCTION register_worker(a_name TEXT, a_host TEXT, a_device TEXT, a_version TEXT, a_protocol BIGINT)
RETURNS TABLE (status TEXT, uid TEXT, config_text TEXT, config_digest TEXT, seed BIGINT, best TEXT, mode TEXT, ahead BOOLEAN)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := 'ok';
BEGIN
    IF a_protocol IS DISTINCT FROM 1 THEN
        told := 'version 1 ' || coalesce(
            (SELECT version FROM workers WHERE protocol = 1 ORDER BY last_seen_us DESC LIMIT 1), 'unknown');
    ELSIF a_name IS NULL OR a_name !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
        told := 'refused: a worker''s name has 1 to 64 of A-Z a-z 0-9 . _ : -';
    ELSE
        INSERT INTO workers AS w (name, login, host, device, version, protocol, state, games, evals, refused,
                                  registered_us, last_seen_us)
        VALUES (a_name, session_user, left(a_host, 200), left(a_device, 200), left(a_version, 64), a_protocol,
                'ok', 0, 0, 0, clock_us(), clock_us())
        ON CONFLICT (name) DO UPDATE SET host = excluded.host, device = excluded.device,
            version = excluded.version, protocol = excluded.protocol, games = 0, evals = 0,
            registered_us = excluded.registered_us, last_seen_us = excluded.last_seen_us
        WHERE w.login IN ('', session_user);
        told := worker_gate(a_name);
    END IF;
    RETURN QUERY SELECT told, r.* FROM (SELECT 1) AS one LEFT JOIN run_row() AS r ON told = 'ok';
END $$;

CREATE FUNCTION run_state(a_worker TEXT, a_games BIGINT, a_evals BIGINT)
RETURNS TABLE (status TEXT, uid TEXT, config_text TEXT, config_digest TEXT, seed BIGINT, best TEXT, mode TEXT, ahead BOOLEAN)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := worker_gate(a_worker);
BEGIN
    IF told = 'ok' THEN
        UPDATE workers SET games = a_games, evals = a_evals, last_seen_us = clock_us() WHERE name = a_worker;
    END IF;
    RETURN QUERY SELECT told, r.* FROM (SELECT 1) AS one LEFT JOIN run_row() AS r ON told = 'ok';
END $$;

CREATE FUNCTION submit_uploads(a_worker TEXT, a_ids BYTEA[], a_counters BIGINT[], a_networks TEXT[],
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
                   AND length(payload) <= 65536 AND length(hash) = 32) IS NOT TRUE) THEN
        told := 'refused: a game has 65536 bytes at most, an id of 16 and a hash of 32';
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

-- 1 MB of a network's bytes; nothing behind the last.
CREATE FUNCTION network_chunk(a_hash TEXT, a_chunk BIGINT) RETURNS BYTEA LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT bytes FROM network_chunks WHERE hash = a_hash AND chunk = a_chunk
$$;

-- The played slots of a block, settled or not: pair * 2 + colour.
CREATE FUNCTION block_slots(a_match BIGINT, a_from BIGINT, a_to BIGINT) RETURNS BIGINT[] LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg(slot ORDER BY slot), ARRAY[]::BIGINT[]) FROM (
        SELECT pair * 2 + colour AS slot FROM match_games WHERE match_id = a_match AND pair >= a_from AND pair < a_to
        UNION SELECT pair * 2 + colour FROM match_uploads WHERE match_id = a_match AND pair >= a_from AND pair < a_to
    ) AS played
$$;

CREATE FUNCTION lease_block(a_worker TEXT)
RETURNS TABLE (status TEXT, match_id BIGINT, block BIGINT, epoch BIGINT, candidate TEXT, base TEXT,
               gate_config_json TEXT, first_pair BIGINT, end_pair BIGINT, done BIGINT[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := worker_gate(a_worker);
BEGIN
    IF told <> 'ok' THEN
        RETURN QUERY SELECT told, NULL::BIGINT, NULL::BIGINT, NULL::BIGINT, NULL::TEXT, NULL::TEXT, NULL::TEXT,
                            NULL::BIGINT, NULL::BIGINT, NULL::BIGINT[];
        RETURN;
    END IF;
    RETURN QUERY
    WITH taken AS (
        UPDATE match_blocks AS t SET state = 'leased', worker = a_worker, epoch = t.epoch + 1,
            attempts = t.attempts + 1, until_us = clock_us() + 60000000
        WHERE (t.match_id, t.block) = (
            SELECT b.match_id, b.block FROM match_blocks AS b
            WHERE (b.state = 'ready' OR (b.state = 'leased' AND b.until_us <= clock_us()))
                AND b.attempts < 5
                AND (SELECT m.verdict FROM matches AS m WHERE m.match_id = b.match_id) IS NULL
            ORDER BY b.match_id, b.block LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING t.match_id, t.block, t.epoch
    )
    SELECT told, t.match_id, t.block, t.epoch, m.candidate, m.base, m.gate_config_json, t.block * 8,
        least(t.block * 8 + 8, m.pairs_planned), block_slots(t.match_id, t.block * 8, t.block * 8 + 8)
    FROM taken AS t JOIN matches AS m ON m.match_id = t.match_id;
END $$;

CREATE FUNCTION heartbeat(a_worker TEXT, a_match BIGINT, a_block BIGINT, a_epoch BIGINT)
RETURNS TABLE (status TEXT, held BOOLEAN)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := worker_gate(a_worker);
BEGIN
    IF told = 'ok' THEN
        UPDATE match_blocks AS b SET until_us = clock_us() + 60000000
        WHERE b.match_id = a_match AND b.block = a_block AND b.worker = a_worker AND b.epoch = a_epoch
            AND b.state = 'leased'
            AND (SELECT m.verdict FROM matches AS m WHERE m.match_id = b.match_id) IS NULL;
    END IF;
    RETURN QUERY SELECT told, told = 'ok' AND FOUND;
END $$;

CREATE FUNCTION finish_block(a_worker TEXT, a_match BIGINT, a_block BIGINT, a_epoch BIGINT,
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
                   AND length(payload) <= 65536 AND length(hash) = 32) IS NOT TRUE) THEN
        RETURN QUERY SELECT 'refused: a block''s games have its pairs, the colours 0 and 1, and 65536 bytes at most', false;
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

DO $$
DECLARE
    f REGPROCEDURE;
BEGIN
    -- By default everybody may call a new function.
    FOR f IN SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = CAST(current_schema() AS REGNAMESPACE) LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    END LOOP;
END $$;
