-- PostgreSQL only: the eighth function of a worker (see 0006).
CREATE FUNCTION report_damaged(a_worker TEXT, a_network TEXT, a_why TEXT) RETURNS TEXT
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    told TEXT := worker_gate(a_worker);
BEGIN
    IF told <> 'ok' THEN
        RETURN told;
    ELSIF a_network IS NULL OR NOT EXISTS (SELECT 1 FROM networks WHERE id = a_network) THEN
        RETURN 'refused: no network of this run: ' || coalesce(left(a_network, 64), 'none');
    END IF;
    INSERT INTO damaged_networks AS d (network, worker, why, at_us)
    VALUES (a_network, a_worker, left(coalesce(a_why, ''), 300), clock_us())
    ON CONFLICT (network, worker) DO UPDATE SET why = excluded.why, at_us = excluded.at_us;
    RETURN 'ok';
END $$;
