# Documents of statements with their answers, held to both vtgate and one server without shards.
#
# A document is SQL. Statements end with `;` at the end of a line. Behind a statement stand its rows, one a line as
# `-- > a | b`, or the number of its error as `-- ! 1062`; without ORDER BY, rows are compared as a set. A statement
# without either must give what the server without shards gives, and no error. A line before a statement may say:
#   -- vitess        the statement is vtgate's own, and not sent to the other server
#   -- session NAME  another connection, for this statement and those behind it
#   -- wait SECONDS  until vtgate knows what DDL has changed

declare -A session_in session_out
questions=0 wrong=0 asked=0

# Opens the connection KEY: a client that reads statements from one pipe, its rows and errors coming from another.
open_session() {
  local key=$1 in out pipe=$run/session.$1
  shift
  rm -f "$pipe.in" "$pipe.out"
  mkfifo "$pipe.in" "$pipe.out"
  mariadb --no-defaults -N -B -n -c --force "$@" <"$pipe.in" >"$pipe.out" 2>&1 &
  clients+=($!)
  exec {in}>"$pipe.in" {out}<"$pipe.out"
  rm -f "$pipe.in" "$pipe.out"
  session_in[$key]=$in session_out[$key]=$out
}

close_sessions() {
  local key fd
  for key in "${!session_in[@]}"; do
    fd=${session_in[$key]}
    exec {fd}>&-
    fd=${session_out[$key]}
    exec {fd}<&-
  done
  [ ${#clients[@]} = 0 ] || wait "${clients[@]}" || true
  session_in=() session_out=() clients=()
}

# What a session answers to a statement, in the form of a document. Behind an error the client repeats the statement.
ask() {
  local line rows= error= end="answer $((questions += 1)) ends"
  printf "%s\nSELECT '%s', ROW_COUNT();\n" "$2" "$end" >&"${session_in[$1]}"
  while IFS= read -r -t 60 line <&"${session_out[$1]}"; do
    if [[ $line == "$end"* ]]; then
      [[ ! $2 =~ ^(INSERT|UPDATE|DELETE) ]] || rows="> ${line##*$'\t'} rows"$'\n'
      printf '%s' "${error:-$rows}"
      return
    elif [[ $line =~ ^ERROR\ ([0-9]+) ]]; then
      error="! ${BASH_REMATCH[1]}"$'\n'
      echo "$line" >"$run/last-error"
    else
      rows+="> ${line//$'\t'/ | }"$'\n'
    fi
  done
  echo "! no answer"
}

# Where a statement does not order its rows, their order says nothing.
ordered() {
  if [[ ${1,,} == *"order by"* ]]; then cat; else LC_ALL=C sort; fi
}

differs() {
  wrong=$((wrong + 1))
  printf 'WRONG %s: %s\n  %s\n' "$file" "$1" "$2"
  sed 's/^/      /' <<<"$3"
  echo "  expected of it:"
  sed 's/^/      /' <<<"$4"
  [[ $3$4 != *'! '* ]] || { echo "  the last error:" && cat "$run/last-error"; }
}

# Asks a statement of a document and judges the answers. $file, $session and $only say where it stands.
judge() {
  local statement=$1 expected=$2 here there=
  asked=$((asked + 1))
  [ -n "${session_in[gate-$session]:-}" ] || {
    open_session "gate-$session" -h127.0.0.1 -P"$gate_port" --default-character-set=utf8mb4 -uanybody shop
    open_session "one-$session" --default-character-set=utf8mb4 "${reference[@]}" shop
  }
  here=$(ask "gate-$session" "$statement" | ordered "$statement")
  questions=$((questions + 1))
  if [ -z "$only" ]; then
    there=$(ask "one-$session" "$statement" | ordered "$statement")
    [ "$here" = "$there" ] || differs "vtgate, held to one server" "$statement" "$here" "$there"
  fi
  if [ -n "$expected" ]; then
    expected=$(ordered "$statement" <<<"$expected")
    [ "$here" = "$expected" ] || differs vtgate "$statement" "$here" "$expected"
    [ -n "$only" ] || [ "$there" = "$expected" ] || differs "one server" "$statement" "$there" "$expected"
  elif [[ $here == *'! '* || $here == *"no answer"* ]]; then
    differs vtgate "$statement" "$here" "no error"
  fi
}

# Runs a document on fresh connections.
document() {
  local file=$1 line statement= expected= only= session=main complete= clients=()
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      '-- > '* | '-- ! '*) expected+=${expected:+$'\n'}${line#-- } ;;
      *)
        if [ -n "$complete" ] && [ -n "$line" ]; then
          judge "$statement" "$expected"
          statement= expected= complete= only=
        fi
        case $line in
          '-- vitess') only=yes ;;
          '-- session '*) session=${line#-- session } ;;
          '-- wait '*) sleep "${line#-- wait }" ;;
          '-- '* | '--' | '') ;;
          *)
            statement+=${statement:+$'\n'}$line
            [[ $line != *';' ]] || complete=yes
            ;;
        esac
        ;;
    esac
  done <"$here/$file"
  [ -z "$complete" ] || judge "$statement" "$expected"
  close_sessions
}
