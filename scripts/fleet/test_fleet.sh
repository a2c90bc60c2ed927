#!/usr/bin/env bash
# Everything that the fleet is judged by, on this machine, within a quarter of an hour once it is built.
#
#   scripts/fleet/test_fleet.sh            all parts, ten minutes each of the long ones
#   SECONDS_EACH=60 scripts/fleet/test_fleet.sh chaos fuzzing      these two parts, a minute each
#
# The long parts run side by side: the open transaction, whose leases are timed, before all others, then the
# chaos, the fuzzer last. The short ones follow one another beside them. One line for each part; exits 1
# if one failed. Logs stay in the folder that is named at the end. Needs PostgreSQL's programs; some parts need
# root (small disks, higher priority) and say so where they cannot.
set -u
cd "$(dirname "$0")/../.."
CARGO=${CARGO:-cargo}
EACH=${SECONDS_EACH:-600}
LOGS=$(mktemp -d "${TMPDIR:-/tmp}/test-fleet.XXXXXX")
ALL="accept chaos fuzzing disks sleepers matchmakers uploads trainers real-run"
PARTS=${*:-$ALL}
for part in $PARTS; do
    case " $ALL " in
        *" $part "*) ;;
        *) echo "no part $part; there are: $ALL" >&2; exit 2 ;;
    esac
done
wanted() { case " $PARTS " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# Programs first, so that nothing is built while something is timed.
programs() {
    $CARGO test --locked --no-run --message-format=json-render-diagnostics "$@" |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}
set -e
FLEET=$(programs -p tengen-fleet --tests)
ACCEPT=$($CARGO build --locked -p tengen-store --features test-server --example store_accept \
    --message-format=json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*store_accept[^"]*\)".*/\1/p')
if wanted trainers; then CLI=$(programs -p tengen-cli --test trainers); fi
if wanted real-run; then
    TENGEN=$($CARGO build --release --locked -p tengen-cli --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\/tengen\)".*/\1/p')
fi
set +e
# The test program of a name among those of a crate.
program() { echo "$2" | grep "/$1-[0-9a-f]*$" | head -1; }

failed=0
# What a part said last that tells something, and whether it was well.
tell() {
    local name=$1 code=$2 seconds=$3 log=$LOGS/$1.log said mark=ok
    said=$(grep -hE 'games, none lost|uploads in|forgeries of|matches in|games/s accepted|real run|fleet against loop|^SKIPPED' "$log" |
        tail -3 | sed 's/^test [a-z_]* \.\.\. //' | tr '\n' ';' | sed 's/;$//; s/;/; /g')
    if [ "$code" -ne 0 ]; then
        mark=FAILED
        failed=1
        said="$said $(grep -hE 'panicked at|^error' -A1 "$log" | head -4 | tr '\n' ' ')"
    fi
    [ -n "$said" ] || said=$(grep -h 'test result' "$log" | tail -1)
    printf '%-12s %-6s %4d s  %s\n' "$name" "$mark" "$seconds" "$said"
}
# Sessions share the cores evenly whatever the priorities within them, and a server makes one of its own. So what
# is timed gets a session, and this one, with everything else in it, stands back. (Leaving a core to what is timed,
# by taskset, once starved a kernel's own worker on the other for minutes, and with it every write to the disk.)
AUTOGROUP=/proc/self/autogroup
stand_back() { [ -w $AUTOGROUP ] && echo "$1" > $AUTOGROUP; }
# part NAME PRIORITY COMMAND…: runs it, its words in the log.
part() {
    local name=$1 priority=$2 began=$SECONDS code session=()
    shift 2
    if [ "$priority" -le 0 ]; then session=(setsid --wait); fi
    "${session[@]}" nice -n "$priority" "$@" > "$LOGS/$name.log" 2>&1
    code=$?
    tell "$name" "$code" $((SECONDS - began))
    return "$code"
}
# tests NAME PRIORITY PROGRAM TEST…: tests by their names, ignored ones too.
tests() {
    local name=$1 priority=$2 program=$3
    shift 3
    part "$name" "$priority" env TMPDIR="$SPOOLS" "$program" --nocapture --include-ignored --exact "$@"
}
# Spools sync every game: in memory, so that they don't stand in line with the commits that are timed.
SPOOLS=${TMPDIR:-/tmp}
if [ "$(df --output=avail -BM /dev/shm 2> /dev/null | tail -1 | tr -dc 0-9)" -ge 2048 ] 2> /dev/null; then SPOOLS=/dev/shm; fi
# A higher priority where this user may have one.
FIRST=0
if nice -n -10 true 2> /dev/null && [ "$(nice -n -10 nice)" -lt "$(nice)" ]; then FIRST=-10; fi

short_parts() {
    local bad=0
    if wanted sleepers; then
        tests sleepers 1 "$(program frozen "$FLEET")" a_worker_asleep_past_its_lease_comes_too_late \
            a_worker_asleep_for_ninety_seconds_comes_too_late torn_and_corrupted_weights_play_no_game || bad=1
    fi
    if wanted disks; then
        tests disks 1 "$(program full_disk "$FLEET")" \
            a_full_spool_disk_pauses_play_drops_nothing_and_goes_on_when_there_is_room \
            a_full_server_disk_loses_no_game_and_counts_none_twice || bad=1
    fi
    if wanted matchmakers; then
        tests matchmakers 1 "$(program matchmakers "$FLEET")" two_matchmakers_over_two_hundred_matches || bad=1
    fi
    if wanted uploads; then
        part uploads 1 env TMPDIR="$SPOOLS" "$(program uploads "$FLEET")" --nocapture --skip fuzzing || bad=1
    fi
    if wanted trainers; then
        tests trainers 1 "$(program trainers "$CLI")" a_zombie_trainer_writes_nothing_and_exits_with_one_line \
            a_trainer_frozen_for_ninety_seconds_writes_nothing || bad=1
    fi
    return $bad
}

trap "trap - INT TERM; kill 0; pkill -f \"$ACCEPT\"" INT TERM
trap "stand_back 0" EXIT
stand_back 10
began=$SECONDS
pids=()
if wanted accept; then
    part accept "$FIRST" "$ACCEPT" --seconds "$EACH" & pids+=($!)
    # The measure of what is accepted at best comes before the crowd.
    sleep 20
fi
if wanted chaos; then
    TENGEN_CHAOS_SECONDS=$EACH tests chaos 5 "$(program chaos "$FLEET")" sixteen_workers_ten_minutes_five_crashes & pids+=($!)
fi
if wanted fuzzing; then
    TENGEN_FUZZ_SECONDS=$EACH tests fuzzing 19 "$(program uploads "$FLEET")" ten_minutes_of_fuzzing & pids+=($!)
fi
short_parts & pids+=($!)
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done

# A whole run by a fleet, trained and judged, alone on the machine.
stand_back 0
if wanted real-run; then part real-run 0 scripts/fleet/real_run.py --binary "$TENGEN" || failed=1; fi

echo "$((SECONDS - began)) s; logs in $LOGS"
exit $failed
