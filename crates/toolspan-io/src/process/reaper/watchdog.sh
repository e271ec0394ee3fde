# Who ends the servers of a host that was killed? Reads "set COOKIE [GROUP]" and "drop COOKIE" until
# the end of input, which is the end of the host. Then SIGTERM, up to 1 s of patience, SIGKILL.
trap '' TERM INT HUP QUIT
entries=

forget() {
    kept=
    for entry in $entries; do
        case $entry in
        "$1":*) ;;
        *) kept="$kept $entry" ;;
        esac
    done
    entries=$kept
}

while read -r word cookie group; do
    forget "$cookie"
    case $word in
    set) entries="$entries $cookie:$group" ;;
    esac
done
[ -n "$entries" ] || exit 0

cookies=
for entry in $entries; do
    cookies="$cookies${cookies:+
}${entry%%:*}"
done

signal_groups() {
    reached=1
    for entry in $entries; do
        group=${entry#*:}
        [ -n "$group" ] && kill -s "$1" -- "-$group" && reached=0
    done 2>/dev/null
    return $reached
}

# A grep that stops at NUL bytes would miss the cookie: such a one gets text.
if printf 'a\000b' | grep -qF b; then
    bearers() { grep -lF -e "$cookies" /proc/[0-9]*/environ 2>/dev/null; }
else
    bearers() {
        for file in /proc/[0-9]*/environ; do
            tr '\000' '\n' <"$file" | grep -qF -e "$cookies" && echo "$file"
        done 2>/dev/null
    }
fi

signal_stragglers() {
    reached=1
    for file in $(bearers); do
        pid=${file#/proc/}
        kill -s "$1" "${pid%/environ}" 2>/dev/null && reached=0
    done
    return $reached
}

turns=0
signal_groups TERM
signal_stragglers TERM
while [ $turns -lt 10 ]; do
    signal_groups 0 || signal_stragglers 0 || exit 0
    sleep 0.1 2>/dev/null || { sleep 1; turns=10; }
    turns=$((turns + 1))
done
signal_groups KILL
turns=0
while [ $turns -lt 10 ]; do
    signal_stragglers KILL || exit 0
    sleep 0.05 2>/dev/null || turns=10
    turns=$((turns + 1))
done
