-- PostgreSQL only: one login may speak for several parties, each with workers of its own; `tengen serve` does,
-- for the holders of its tokens. The connection says for whom (`tengen.party`); workers then belong to
-- 'login/party'. A login speaks for parties of its own alone, as its name comes first.

CREATE OR REPLACE FUNCTION worker_gate(a_worker TEXT) RETURNS TEXT LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    its RECORD;
    speaker TEXT := session_user || coalesce('/' || nullif(current_setting('tengen.party', true), ''), '');
BEGIN
    SELECT state, login INTO its FROM workers WHERE name = a_worker;
    IF NOT FOUND THEN
        RETURN format('refused: worker "%s" has not registered', left(a_worker, 64));
    ELSIF its.login <> speaker AND (its.login <> '' OR speaker <> session_user) THEN
        RETURN 'refused: this worker''s name belongs to another login';
    ELSIF its.state = 'blocked' THEN
        RETURN 'blocked';
    END IF;
    RETURN 'ok';
END $$;

CREATE OR REPLACE FUNCTION register_worker(a_name TEXT, a_host TEXT, a_device TEXT, a_version TEXT, a_protocol BIGINT)
RETURNS TABLE (status TEXT, uid TEXT, config_text TEXT, config_digest TEXT, seed BIGINT, best TEXT, mode TEXT, ahead BOOLEAN)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := 'ok';
    speaker TEXT := session_user || coalesce('/' || nullif(current_setting('tengen.party', true), ''), '');
BEGIN
    IF a_protocol IS DISTINCT FROM 1 THEN
        told := 'version 1 ' || coalesce(
            (SELECT version FROM workers WHERE protocol = 1 ORDER BY last_seen_us DESC LIMIT 1), 'unknown');
    ELSIF a_name IS NULL OR a_name !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
        told := 'refused: a worker''s name has 1 to 64 of A-Z a-z 0-9 . _ : -';
    ELSE
        INSERT INTO workers AS w (name, login, host, device, version, protocol, state, games, evals, refused,
                                  registered_us, last_seen_us)
        VALUES (a_name, speaker, left(a_host, 200), left(a_device, 200), left(a_version, 64), a_protocol,
                'ok', 0, 0, 0, clock_us(), clock_us())
        ON CONFLICT (name) DO UPDATE SET host = excluded.host, device = excluded.device,
            version = excluded.version, protocol = excluded.protocol, games = 0, evals = 0,
            registered_us = excluded.registered_us, last_seen_us = excluded.last_seen_us
        WHERE w.login = speaker OR (w.login = '' AND speaker = session_user);
        told := worker_gate(a_name);
    END IF;
    RETURN QUERY SELECT told, r.* FROM (SELECT 1) AS one LEFT JOIN run_row() AS r ON told = 'ok';
END $$;
