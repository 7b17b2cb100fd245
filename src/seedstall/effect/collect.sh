#!/bin/sh
# seedstall-collect @VERSION@: the evidence of a Java program that hangs, as a tar on standard output.
#
#   seedstall capture --script | ssh HOST sh -s -- --pid 8712 > bundle.tar
#   seedstall diagnose bundle.tar
#
# Needs sh, cat, tr and sleep; takes od, readlink, ls, stat, jstack where they are there. It writes no file on
# the host: all goes through variables into the stream. Nothing is done to the JVM but by jstack (not with
# --passive) and kill -3 (only with --signal), and either only where it is told harmless.
#
# What may hang (a file of a dead server, /proc of a process whose memory is locked) is read by a child, through a
# second one that can be killed in any case. Everything is a function and the last line starts it, so that a
# script that was cut on its way does nothing.
#
# shellcheck disable=SC2317 # functions are called through `within`

usage() {
	put 'usage: sh collect.sh [--pid N] [OPTION...] > bundle.tar
  --pid N       the JVM, or what started it; without it the JVM that runs here, where it is the only one
  --list        print pid and program of each JVM that is seen, and do no more
  --passive     ask nothing of the JVM: no jstack (also --no-jstack)
  --signal      where jstack is not there or fails, kill -3, and take the dump from its log
  --takes N     look N times (1)
  --every S     seconds between two looks (5)
  --timeout S   seconds for all of it (60)
  --read-limit S  seconds for one file (5)
  --no-redact   leave passwords in what is read
  --help, --version
Exit: 0 written; 1 not to be written; 2 usage; 3 no such JVM, or several.
'
}

# --- words ----------------------------------------------------------------------------------------------------------

# By a builtin, whatever its size: an external printf has no room for it. mksh has print for it.
put() { printf '%s' "$1"; }
pute() { printf '%b' "$1"; }
say() { put "seedstall-collect: $1$nl" >&2; }

constants() {
	nl='
'
	tab=$(printf '\t')
	sep=$(printf '\036') # stands for NUL, which no variable holds
	mask='*****'
	backslash=\\
	printable=' !"#$%&'\''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'
	blanks=" $tab$nl"
	IFS=$blanks
}

number() { # is it one, and short enough to be reckoned with?
	case $1 in '' | *[!0-9]* | ?????????*) return 1 ;; esac
}

replace() { # TEXT OLD NEW: $replaced
	replaced=
	replace_rest=$1
	while :; do
		case $replace_rest in
		*"$2"*)
			replaced=$replaced${replace_rest%%"$2"*}$3
			replace_rest=${replace_rest#*"$2"}
			;;
		*) break ;;
		esac
	done
	replaced=$replaced$replace_rest
}

field() { # NAME TEXT: $value, the rest of the line "NAME:" of a status
	value=
	case $nl$2 in
	*"$nl$1:"*)
		value=$nl$2
		value=${value#*"$nl$1:"}
		value=${value%%"$nl"*}
		value=${value#"${value%%[!"$tab" ]*}"}
		;;
	esac
}

clock() { # $now: seconds of some clock that does not jump
	clock_up=
	read -r clock_up _ 2>/dev/null </proc/uptime
	now=${clock_up%%.*}
	number "$now" || now=$(date +%s 2>/dev/null)
	case $now in '' | *[!0-9]*) now=0 ;; esac
}

late() { # is the time for all of it over?
	clock
	[ "$now" -ge "$deadline" ]
}

# --- reading --------------------------------------------------------------------------------------------------------

# Small files of /proc, which never wait: $value, by builtins alone, since a JVM has a thousand of them.
quick() { # FILE
	value=
	quick_line=
	{
		while IFS= read -r quick_line; do value=$value$quick_line$nl; done
	} 2>/dev/null <"$1" || return 1
	value=$value$quick_line
}

# In one read: what the kernel makes anew for each (a sysctl; before 4.0 syscall and wchan too) is not whole by bytes.
once() { # FILE
	value=$(cat "$1" 2>/dev/null && put x) || return 1
	value=${value%x}
}

# Runs COMMAND with a limit and keeps what it prints: $value, and $ended: its exit code, "late" or "cut".
# The reader of its pipe is what is waited for, and can always be killed: COMMAND itself cannot while the
# kernel holds it, and is left to end when it is let go. So it is no part of the job that is waited for.
within() { # SECONDS COMMAND [ARGUMENT...]
	error=
	within_limit=$1
	shift
	clock
	if [ $((now + within_limit)) -gt "$deadline" ]; then within_limit=$((deadline - now)); fi
	if [ "$within_limit" -le 0 ]; then
		ended=late
		value=
		return 1
	fi
	value=$(
		exec 5>&1
		# By exec, which keeps no copy: what hangs must not hold the pipe that we read.
		{ (run_apart "$@") & } | pump >&5 5>&- &
		within_pump=$!
		(
			exec 5>&- </dev/null >/dev/null 2>&1
			guard "$within_limit"
			kill -9 "$within_pump"
		) &
		within_guard=$!
		wait "$within_pump" 2>/dev/null
		within_code=$?
		kill "$guard_signal" "$within_guard" 2>/dev/null
		put "$nl$within_code"
	) 2>/dev/null
	case $value in *"$nl=0 ${nl}0")
		value=${value%"$nl=0 ${nl}0"}
		value=${value#*"$nl"}
		ended=0
		return 0
		;;
	esac
	# What went wrong is short.
	within_code=${value##*"$nl"}
	value=${value%"$nl"*}
	within_child=${value%%"$nl"*}
	value=${value#*"$nl"}
	if [ "$within_code" -gt 128 ]; then
		start_of "${within_child%% *}"
		# Its number may be another's by now.
		[ "${within_child%% *} $value" != "$within_child" ] || end_tree "${within_child%% *}" 3
		ended=late
		value=
		return 1
	fi
	ended='cut'
	case $nl$value in *"$nl"=*) ;; *) return 1 ;; esac
	value=$nl$value
	within_code=${value##*"$nl"=}
	value=${value%"$nl"=*}
	value=${value#"$nl"}
	ended=${within_code%% *}
	error=${within_code#* }
	[ "$ended" = 0 ]
}

guard() { # SECONDS, and can be ended before: it and the sleep of its own
	if [ "$guard_signal" = -9 ]; then
		# mksh may miss a signal that comes just before it waits. What is left then is one short sleep.
		guard_left=$1
		while [ "$guard_left" -gt 0 ]; do
			sleep 1
			guard_left=$((guard_left - 1))
		done
	else
		trap 'kill $! 2>/dev/null; exit 0' TERM
		sleep "$1" &
		wait $!
	fi
}

run_apart() { # tells its pid and its start first: $$ is the script's in every subshell
	start_of self
	put "$stat_pid $value$nl" >&5
	exec 5>&- </dev/null 2>/dev/null
	"$@"
}

pump() { # at most 8 MiB, and the line that says how it ended
	if [ -n "$has_head" ]; then exec head -c 8400000; else exec cat; fi
}

end_tree() { # PID DEPTH: a child of ours that was late, and what it started
	number "$1" || return 0
	if [ "$2" -gt 0 ]; then
		for end_tree_stat in /proc/[0-9]*/stat; do
			quick "$end_tree_stat" || continue
			end_tree_parent=${value##*) ? }
			if [ "${end_tree_parent%% *}" = "$1" ]; then
				end_tree_found=${end_tree_stat#/proc/}
				end_tree "${end_tree_found%/stat}" $(($2 - 1))
			fi
		done
	fi
	kill -9 "$1" 2>/dev/null
}

if_there() { command -v "$1" >/dev/null 2>&1; }

# What runs inside `within`: each prints its result, and last how it ended.
finish() { put "$nl=$1 $2"; }

show() { # FILE
	if [ -e "$1" ] && [ ! -f "$1" ]; then
		finish 1 'a FIFO or device'
		return
	fi
	exec 6>&1
	show_error=$(cat "$1" 2>&1 >&6 6>&-)
	finish $? "$show_error"
}

show_words() { # FILE: NUL as RS
	exec 6>&1
	show_words_error=$( { cat -- "$1" | tr '\036\000' '?\036' >&6 6>&-; } 2>&1) # cat's words tell why
	case $show_words_error in '') finish 0 '' ;; *) finish 1 "$show_words_error" ;; esac
}

show_octal() { # FILE [BYTES]: its first bytes in octal
	if [ ! -r "$1" ]; then
		absent_or_denied "$1"
	elif [ -n "${2-}" ]; then
		dd if="$1" bs="$2" count=1 2>/dev/null | od -An -v -to1
		finish $? ''
	else
		od -An -v -to1 <"$1"
		finish $? ''
	fi
}

show_links() { # FOLDER: lines that end in "NUMBER -> TEXT", of its links
	if [ ! -r "$1" ] || [ ! -x "$1" ]; then
		absent_or_denied "$1"
	elif if_there ls; then
		ls -ln "$1" # -n: names of users may be asked of a server
		finish 0 ''
	elif if_there readlink; then
		for show_links_file in "$1"/[0-9]*; do
			put "l ${show_links_file##*/} -> $(readlink "$show_links_file")$nl"
		done
		finish 0 ''
	else
		finish 1 'there is neither ls nor readlink'
	fi
}

show_link() { # FILE
	if [ -L "$1" ]; then
		text=$(readlink "$1" && put x) && finish_link && return
		finish 1 'Permission denied'
	elif [ -e "$1" ]; then
		finish 1 'Invalid argument'
	else
		finish 1 'No such file or directory'
	fi
}

finish_link() {
	text=${text%x}
	put "${text%"$nl"}"
	finish 0 ''
}

show_names() { # FOLDER: its names, parted by /
	show_names_names=
	if [ ! -d "$1" ]; then
		finish 1 'No such file or directory'
		return
	fi
	if [ ! -r "$1" ] || [ ! -x "$1" ]; then
		finish 1 'Permission denied'
		return
	fi
	for show_names_name in "$1"/* "$1"/.[!.]* "$1"/..?*; do
		if [ -e "$show_names_name" ] || [ -L "$show_names_name" ]; then show_names_names=$show_names_names/${show_names_name##*/}; fi
	done
	put "${show_names_names#/}"
	finish 0 ''
}

show_type() { # FILE: its type as the manifest has it; without stat by ls
	if show_type_found=$(stat -L -c '%f %t %T %i %u %g %s' "$1" 2>/dev/null); then
		# shellcheck disable=SC2086 # seven words
		set -- $show_type_found
		octal $((0x$1))
		put "$octal $((0x$2)) $((0x$3)) $4 $5 $6 $7"
		finish 0 ''
	elif [ -e "$1" ] && show_type_found=$(ls -lLnid "$1" 2>/dev/null); then
		# shellcheck disable=SC2086 # words
		set -- $show_type_found
		mode_of "$2"
		case $6 in
		*,) put "$value ${6%,} ${7%,} $1 $4 $5 0" ;;
		*) put "$value 0 0 $1 $4 $5 $6" ;;
		esac
		finish 0 ''
	elif [ -L "$1" ] && ! readlink "$1" >/dev/null; then
		finish 1 'Permission denied'
	else
		absent_or_denied "$1"
	fi
}

absent_or_denied() { # why a path cannot be had: a folder above that may not be walked hides it
	absent_or_denied_above=$1
	if [ -e "$1" ]; then
		finish 1 'Permission denied'
		return
	fi
	while [ ! -e "$absent_or_denied_above" ]; do
		if [ -L "$absent_or_denied_above" ]; then # a link of /proc that may not be followed
			finish 1 'Permission denied'
			return
		fi
		absent_or_denied_above=${absent_or_denied_above%/*}
		[ -n "$absent_or_denied_above" ] || absent_or_denied_above=/
	done
	if [ -d "$absent_or_denied_above" ] && [ ! -x "$absent_or_denied_above" ]; then
		finish 1 'Permission denied'
	else
		finish 1 'No such file or directory'
	fi
}

octal() { # NUMBER: $octal
	octal=
	octal_number=$1
	while [ "$octal_number" -gt 0 ]; do
		octal=$((octal_number % 8))$octal
		octal_number=$((octal_number / 8))
	done
	octal=${octal:-0}
}

mode_of() { # the mode that ls shows as crw-rw-rw-: $value, in octal
	case $1 in
	c*) value=2 ;; b*) value=6 ;; d*) value=4 ;; p*) value=1 ;; s*) value=14 ;; l*) value=12 ;; *) value=10 ;;
	esac
	mode_of_special=0
	case $1 in ???[sS]*) mode_of_special=4 ;; esac
	case $1 in ??????[sS]*) mode_of_special=$((mode_of_special + 2)) ;; esac
	case $1 in ?????????[tT]*) mode_of_special=$((mode_of_special + 1)) ;; esac
	value=$value$mode_of_special
	mode_of_letters=${1#?}
	for _ in user group other; do
		mode_of_bits=0
		case $mode_of_letters in r*) mode_of_bits=4 ;; esac
		case $mode_of_letters in ?w*) mode_of_bits=$((mode_of_bits + 2)) ;; esac
		case $mode_of_letters in ??[xst]*) mode_of_bits=$((mode_of_bits + 1)) ;; esac
		value=$value$mode_of_bits
		mode_of_letters=${mode_of_letters#???}
	done
}

# --- the stream -----------------------------------------------------------------------------------------------------

deliver() { "$@" || exit 1; } # whoever reads it is gone

# The sum of the bytes of TEXT: $sum. A table in a variable, since not every printf knows "'x".
weigh() {
	sum=0
	weigh_left=$1
	while [ -n "$weigh_left" ]; do
		weigh_char=${weigh_left%"${weigh_left#?}"}
		weigh_left=${weigh_left#?}
		weigh_before=${printable%%"$weigh_char"*}
		if [ "$weigh_before" = "$printable" ]; then
			# shellcheck disable=SC2046 # a number
			set -- $(put "$weigh_char" | od -An -tu1)
			sum=$((sum + $1))
		else
			sum=$((sum + 32 + ${#weigh_before}))
		fi
	done
}

# A JVM has hundreds of threads, each of which has files of the same names: what was weighed is kept.
weigh_path() { # PATH: $sum
	weigh_path_folder=${1%/*}
	if [ "$weigh_path_folder" != "$weighed" ]; then
		weighed=$weigh_path_folder
		weigh_path_above=${weigh_path_folder%/*}
		if [ "$weigh_path_above" != "$weighed_above" ]; then
			weighed_above=$weigh_path_above
			weigh "$weigh_path_above"
			above_sum=$sum
		fi
		weigh "${weigh_path_folder#"$weigh_path_above"}"
		folder_sum=$((above_sum + sum))
	fi
	case $1 in
	*/stat) sum=$stat_sum ;;
	*/syscall) sum=$syscall_sum ;;
	*/wchan) sum=$wchan_sum ;;
	*/comm) sum=$comm_sum ;;
	*/children) sum=$children_sum ;;
	*) weigh "${1#"$weigh_path_folder"}" ;;
	esac
	sum=$((folder_sum + sum))
}

zeros() { # N: $zeros, so many NUL bytes for pute
	zeros=
	zeros_wanted=$1
	while [ "$zeros_wanted" -ge 128 ]; do
		zeros=$zeros$zeros128
		zeros_wanted=$((zeros_wanted - 128))
	done
	while [ "$zeros_wanted" -ge 16 ]; do
		zeros=$zeros$zeros16
		zeros_wanted=$((zeros_wanted - 16))
	done
	while [ "$zeros_wanted" -ge 1 ]; do
		zeros=$zeros'\0000'
		zeros_wanted=$((zeros_wanted - 1))
	done
}

digits() { # NUMBER WIDTH: $digits, octal with leading zeros
	octal "$1"
	digits=00000000000$octal
	while [ ${#digits} -gt "$2" ]; do digits=${digits#?}; done
}

# A ustar header. A path of more than 100 bytes stands in a GNU member before it (type L).
header() { # PATH SIZE [TYPE]
	header_path=$1
	header_size=$2
	header_type=${3:-0}
	if [ ${#header_path} -gt 100 ]; then
		header_long=$header_path
		header ././@LongLink $((${#header_long} + 1)) L
		deliver put "$header_long"
		padding $((${#header_long} + 1)) 1
		header_path=$header_long
		while [ ${#header_path} -gt 100 ]; do header_path=${header_path%?}; done
		header_size=$2
		header_type=${3:-0}
	fi
	weigh_path "$header_path"
	header_sum=$sum
	digits "$header_size" 11
	header_octal=$digits
	weigh "$octal$header_type"
	# size: the zeros before it; mode 0000644, uid, gid 0000000: 7 x 48 x 3 + 14; eight blanks for the sum; "ustar", "00"
	header_sum=$((header_sum + sum + 48 * (11 - ${#octal}) + mtime_sum + 1022 + 256 + 655))
	digits $header_sum 6
	header_check=$digits
	zeros $((100 - ${#header_path}))
	escaped "$header_path"
	deliver pute "$escaped${zeros}0000644\\00000000000\\00000000000\\0000$header_octal\\0000$mtime\\0000$header_check\\0000 $header_type$rest_of_header"
}

escaped() { # for pute
	escaped=$1
	case $1 in *\\*)
		replace "$1" "$backslash" "$backslash$backslash"
		escaped=$replaced
		;;
	esac
}

padding() { # SIZE [MORE]: up to the next block
	zeros $(((512 - $1 % 512) % 512 + ${2:-0}))
	[ -z "$zeros" ] || deliver pute "$zeros"
}

fresh() { # PATH: is it the first of that name? (process 1 is the JVM in a container, and everybody's first as well)
	case $1 in */task/*) return 0 ;; esac
	case "$kept " in *" $take$1 "*) return 1 ;; esac
	kept="$kept $take$1"
}

keep() { # PATH TEXT
	fresh "$1" || return 0
	header "$top/$take$1" ${#2}
	deliver put "$2"
	padding ${#2}
}

keep_words() { # PATH TEXT, whose RS are NUL
	fresh "$1" || return 0
	header "$top/$take$1" ${#2}
	deliver put "$2" | tr '\036' '\000'
	padding ${#2}
}

keep_octal() { # PATH OCTAL...
	fresh "$1" || return 0
	keep_octal_size=$(($# - 1))
	header "$top/$take$1" "$keep_octal_size"
	shift
	deliver puto "$@"
	padding "$keep_octal_size"
}

puto() { # OCTAL...: these bytes
	[ $# -gt 0 ] || return 0
	IFS=$backslash
	puto_text=$backslash$*
	IFS=$blanks
	# shellcheck disable=SC2059 # nothing but \ddd
	printf "$puto_text"
}

note() { # PATH STATUS [DETAIL]
	manifest_text "$1"
	note_noted=$replaced
	manifest_text "${3-}"
	noted=$noted$note_noted$tab$2$tab$replaced$nl
	# A long text is copied whole for each line that is added to it: seldom.
	[ ${#noted} -lt 8192 ] || noted_down
}

noted_down() {
	manifest=$manifest$noted
	noted=
}

manifest_text() {
	replaced=$1
	case $1 in
	*[\\"$tab$nl"]*)
		replace "$1" "$backslash" "$backslash$backslash"
		replace "$replaced" "$tab" '\t'
		replace "$replaced" "$nl" '\n'
		;;
	esac
}

why() { # PATH [QUESTION:]: notes why the last `within` gave nothing
	case $ended:${error-} in
	late:*) if late; then note "$1" "${2-}timed-out" "$over"; else note "$1" "${2-}timed-out" "it could not be read within $read_limit s"; fi ;;
	cut:*) note "$1" "${2-}truncated" 'more than 8 MiB' ;;
	*'No such process'*) note "$1" "${2-}vanished" ;;
	*'No such file'* | *'ot a directory'*) gone_or_absent "$1" "${2-}" ;;
	*'ermission denied'* | *'not permitted'*)
		case $1 in
		"proc/$pid" | "proc/$pid/"* | root | root/*) note "$1" "${2-}denied" "$permission" ;;
		*) note "$1" "${2-}denied" 'run as root' ;;
		esac
		;;
	*'there is n'* | *'not found'*) note "$1" "${2-}not-collected" "${error-}" ;;
	*'a FIFO or device'*) note "$1" "${2-}refused" 'no regular file: it is not opened' ;;
	*) note "$1" "${2-}malformed" "${error-}" ;;
	esac
}

gone_or_absent() {
	case $1 in
	"proc/$pid/"*) [ -d "/proc/$pid" ] || { note "$1" "$2vanished"; return; } ;;
	esac
	note "$1" "$2absent"
}

# --- one thing, read and kept ---------------------------------------------------------------------------------------

small() { # PATH below /: by builtins
	if quick "/$1" && [ -n "$value" ]; then
		keep "$1" "$value"
	else # empty, absent or denied: cat tells which
		whole "$1" "/$1"
	fi
}

whole() { # PATH FILE: its content
	if within "$read_limit" show "$2"; then keep "$1" "$value"; else why "$1"; fi
}

link() { # PATH FILE
	if within "$read_limit" show_link "$2"; then
		note "$1" link "$value"
		return 0
	fi
	case $error in *Invalid*) note "$1" link:absent ;; *) why "$1" link: ;; esac
	return 1
}

kind() { # PATH FILE: its type, links followed
	if within "$read_limit" show_type "$2"; then note "$1" stat "$value"; else why "$1" stat:; fi
}

names() { # PATH FOLDER
	if within "$read_limit" show_names "$2"; then note "$1" list "$value"; else why "$1" list:; fi
}

# --- secrets --------------------------------------------------------------------------------------------------------

# What follows a secret's name goes, up to the end of the word. More may go than must: a secret that is told is worse
# than an option that is not. Texts are taken apart by IFS: cutting a long one by patterns takes its length squared.
named() { # TEXT: does a secret's name stand in it?
	case $1 in
	*[Pp][Aa][Ss][Ss]* | *[Pp][Ww][Dd]* | *[Ss][Ee][Cc][Rr][Ee][Tt]* | *[Tt][Oo][Kk][Ee][Nn]*) ;;
	*[Cc][Rr][Ee][Dd][Ee][Nn][Tt][Ii][Aa][Ll]* | *[AaEe][PpSsTt][IiSsEe]?[Kk][Ee][Yy]* | *[AaEe][PpSsTt][IiSsEe][Kk][Ee][Yy]*) ;;
	*[-_.Dd][Kk][Ee][Yy][=:]* | *[-_.Dd][Aa][Uu][Tt][Hh][=:]* | *[-_.Dd][Pp][Ii][Nn][=:]* | *://*@*) ;;
	*-new\ * | *-[Pp]rovider[Aa]rg\ *) ;;
	*) return 1 ;;
	esac
}

tool_option() { # WORD: one that the secret follows as a word of its own (keytool, jarsigner; --password X)
	case $1 in
	-new | -NEW | -[Pp]rovider[Aa]rg | -PROVIDERARG) ;;
	-[DX]*) return 1 ;;
	-*:*) return 1 ;; # ":env", ":file": where it lies
	-*=*) return 1 ;;
	-*) named "$1" || return 1 ;;
	*) return 1 ;;
	esac
}

hide() { # WORD: $hidden; $open: what of it goes on in the next word: "name" (no = yet), "value", "argument", or a quote
	hidden=$1
	open=
	if tool_option "$1"; then
		open=argument
		return
	fi
	named "$1" || return 0
	if [ ${#1} -gt 600 ]; then
		hide_long "$1"
		return
	fi
	hide_credentials "$1"
	case $1 in -Djava.security.egd=* | -Dsecurerandom.source=* | -Djava.security.properties=*) return ;; esac
	hide_after=
	for hide_try in "${hidden#*[Pp][Aa][Ss][Ss]}" "${hidden#*[Pp][Ww][Dd]}" "${hidden#*[Ss][Ee][Cc][Rr][Ee][Tt]}" \
		"${hidden#*[Tt][Oo][Kk][Ee][Nn]}" "${hidden#*[Cc][Rr][Ee][Dd][Ee][Nn][Tt][Ii][Aa][Ll]}" \
		"${hidden#*[AaEe][PpSsTt][IiSsEe][Kk][Ee][Yy]}" "${hidden#*[AaEe][PpSsTt][IiSsEe]?[Kk][Ee][Yy]}" \
		"${hidden#*[-_.Dd][Kk][Ee][Yy][=:]}" "${hidden#*[-_.Dd][Aa][Uu][Tt][Hh][=:]}" "${hidden#*[-_.Dd][Pp][Ii][Nn][=:]}"; do
		if [ "$hide_try" != "$hidden" ] && [ ${#hide_try} -ge ${#hide_after} ]; then
			hide_after=$hide_try
			open=name
		fi
	done
	[ -n "$open" ] || return 0
	case ${hidden%"$hide_after"} in
	*[=:])
		hidden=${hidden%"$hide_after"}
		hide_value "$hide_after"
		return
		;;
	esac
	case $hide_after in
	*[=:]*)
		hide_secret=${hide_after#*[=:]}
		hidden=${hidden%"$hide_secret"}
		hide_value "$hide_secret"
		;;
	esac
}

hide_value() { # TEXT: that of a secret, after its = or :
	open=
	case $1 in
	'')
		open=value
		return
		;;
	\"*\" | \'*\') ;;
	[\"\']*)
		open=${1%"${1#?}"}
		;;
	esac
	hidden=$hidden$mask
}

hide_long() { # a word of many parts, such as a class path: from the first secret on all of it goes
	set -f
	IFS=/
	# shellcheck disable=SC2086 # empty ones stay
	set -- $1
	IFS=$blanks
	set +f
	hide_long_done=
	for hide_long_part; do
		hidden=$hide_long_part
		if [ ${#hide_long_part} -gt 600 ]; then
			hidden=$mask
		else
			hide "$hide_long_part"
		fi
		hide_long_done=$hide_long_done/$hidden
		case $open:$hidden in ":$hide_long_part") ;; *) break ;; esac
	done
	hidden=${hide_long_done#/}
	open=
}

hide_credentials() { # scheme://user:password@host
	case $1 in *://*@*) ;; *) return 0 ;; esac
	hidden=
	hide_credentials_rest=$1
	while :; do
		case $hide_credentials_rest in *://*@*) ;; *) break ;; esac
		hidden=$hidden${hide_credentials_rest%%://*}://
		hide_credentials_rest=${hide_credentials_rest#*://}
		hide_credentials_user=${hide_credentials_rest%%[/@\'\"]*}
		case $hide_credentials_rest in
		"$hide_credentials_user"@*)
			case $hide_credentials_user in
			*:*)
				hide_credentials_rest=${hide_credentials_rest#"$hide_credentials_user"}
				hidden=$hidden$mask:$mask
				;;
			esac
			;;
		esac
	done
	hidden=$hidden$hide_credentials_rest
}

hide_line() { # TEXT of several words: $hidden; where something was hidden, blanks are one each
	hidden=$1
	named "$1" || return 0
	set -f
	# shellcheck disable=SC2086 # words
	set -- $1
	set +f
	open=
	hide_line_done=
	for hide_line_word; do
		case $open:$hide_line_word in
		name:[=:])
			hidden=$hide_line_word
			open=value
			;;
		name:[=:]*)
			hidden=${hide_line_word%"${hide_line_word#?}"}
			hide_value "${hide_line_word#?}"
			;;
		value:*)
			hidden=
			hide_value "$hide_line_word"
			;;
		argument:[!-]*)
			hidden=$mask
			open=
			;;
		\":*\" | \':*\')
			hidden=
			open=
			;;
		\":* | \':*) hidden= ;;
		*) hide "$hide_line_word" ;;
		esac
		hide_line_done=$hide_line_done${hidden:+ $hidden}
	done
	hidden=${hide_line_done# }
}

# What follows is called by `within`: text that others have made may be of any length and form, and to look through it
# may take any time. It is printed piece by piece: to put a long one together takes its length squared.
hide_arguments() { # ARGUMENT...: printed, each ended by RS
	open=
	for hide_arguments_one; do
		case $open:$hide_arguments_one in
		argument:[!-]*)
			open=
			hidden=$mask
			;;
		*)
			hide "$hide_arguments_one"
			case $open:$hide_arguments_one in
			value:*) hidden=$hide_arguments_one ;;
			*["$blanks"]*) # "sh -c" and a command
				case $hidden in
				*"$mask"*) ;;
				*)
					hide_line "$hide_arguments_one"
					case $hidden in *"$mask"*) ;; *) hidden=$hide_arguments_one ;; esac
					;;
				esac
				open=
				;;
			esac
			;;
		esac
		put "$hidden$sep"
	done
}

show_hidden_words() { # TEXT, a command line as `show_words` has it
	set -f
	IFS=$sep
	# shellcheck disable=SC2086 # that is meant: empty arguments stay
	set -- $1
	IFS=$blanks
	hide_arguments "$@"
	finish 0 ''
}

command_line() { # PID: kept; $value is what was read
	if within "$read_limit" show_words "/proc/$1/cmdline"; then
		command_line_read=$value
		if [ -z "$redact" ] || within "$read_limit" show_hidden_words "$value"; then
			case $command_line_read in *"$sep") ;; *) value=${value%"$sep"} ;; esac
			keep_words "proc/$1/cmdline" "$value"
			value=$command_line_read
			return
		fi
	fi
	why "proc/$1/cmdline"
	value=
}

show_hidden_lines() { # TEXT SKIP: its lines, the secrets in them hidden; those like SKIP as they are
	show_hidden_lines_end=
	case $1 in *"$nl") show_hidden_lines_end=$nl ;; esac
	show_hidden_lines_skip=$2
	set -- "$(put "$1" | tr '\036\n' '?\036' && put x)"
	set -f
	IFS=$sep
	# shellcheck disable=SC2086 # one line each
	set -- ${1%x}
	IFS=$blanks
	show_hidden_lines_held=
	show_hidden_lines_before=
	for show_hidden_lines_one; do
		# shellcheck disable=SC2254 # a pattern
		case $show_hidden_lines_one in
		$show_hidden_lines_skip) hidden=$show_hidden_lines_one ;;
		*)
			hide_line "$show_hidden_lines_one"
			# Blanks are one each in it: only where that must be.
			case $hidden in *"$mask"*) ;; *) hidden=$show_hidden_lines_one ;; esac
			;;
		esac
		show_hidden_lines_held=$show_hidden_lines_held$show_hidden_lines_before$hidden
		show_hidden_lines_before=$nl
		if [ ${#show_hidden_lines_held} -gt 4000 ]; then
			put "$show_hidden_lines_held"
			show_hidden_lines_held=
		fi
	done
	put "$show_hidden_lines_held$show_hidden_lines_end"
	finish 0 ''
}

redacted_text() { # [SKIP]: $value without secrets, or why not as `within` tells it
	if [ -z "$redact" ] || ! named "$value"; then return 0; fi
	within "$read_limit" show_hidden_lines "$value" "${1-}"
}

# --- the file system as the JVM sees it -----------------------------------------------------------------------------

# Absolute links lead from its root, not from ours: each part is looked at, none is followed by the kernel.
# (Who can change that file system while we look can still make us read another file of the same name.)
show_inside() { # SHOW PATH [BYTES]: one of the above for a path below its root
	show_inside_show=$1
	show_inside_todo=${2#/}
	show_inside_real=
	show_inside_links=0
	while [ -n "$show_inside_todo" ]; do
		show_inside_part=${show_inside_todo%%/*}
		case $show_inside_todo in */*) show_inside_todo=${show_inside_todo#*/} ;; *) show_inside_todo= ;; esac
		case $show_inside_part in
		'' | .) continue ;;
		..)
			show_inside_real=${show_inside_real%/*}
			continue
			;;
		esac
		if [ -L "$root$show_inside_real/$show_inside_part" ] && [ "$show_inside_show:$show_inside_todo" != show_link: ]; then
			show_inside_links=$((show_inside_links + 1))
			show_inside_to=$(readlink "$root$show_inside_real/$show_inside_part" && put x) || break
			show_inside_to=${show_inside_to%x}
			show_inside_to=${show_inside_to%"$nl"}
			if [ "$show_inside_links" -gt 40 ]; then
				finish 1 'Too many links'
				return
			fi
			case $show_inside_to in /*) show_inside_real= ;; esac
			show_inside_todo=${show_inside_to#/}${show_inside_todo:+/$show_inside_todo}
			continue
		fi
		show_inside_real=$show_inside_real/$show_inside_part
	done
	case $show_inside_show in
	show_type | show_link | show_names | show_owners) "$show_inside_show" "$root$show_inside_real" ;;
	*)
		if [ -f "$root$show_inside_real" ]; then
			"$show_inside_show" "$root$show_inside_real" "${3-}"
		elif [ -e "$root$show_inside_real" ]; then
			finish 1 'a FIFO or device'
		else
			absent_or_denied "$root$show_inside_real"
		fi
		;;
	esac
}

inside() { # PATH: a text file of its root, secrets hidden; $value is what was read
	case " $seen_inside " in *" $1 "*) return ;; esac
	seen_inside="$seen_inside $1"
	if within "$read_limit" show_inside show_words "$1" && redacted_text; then
		keep_words "root$1" "$value"
	else
		why "root$1"
		value=
		return 1
	fi
}

inside_kind() { # PATH: its type
	if within "$read_limit" show_inside show_type "$1"; then note "root$1" stat "$value"; else why "root$1" stat:; fi
}

inside_link() { # PATH: whether it is a link itself
	if within "$read_limit" show_inside show_link "$1"; then
		note "root$1" link "$value"
	else
		case $error in *Invalid*) note "root$1" link:absent ;; *) why "root$1" link: ;; esac
	fi
}

inside_octal() { # PATH: a file that is no text
	if [ -z "$has_od" ]; then
		note "root$1" not-collected 'there is no od'
	elif within "$read_limit" show_inside show_octal "$1"; then
		inside_octal_octal_of=$value
		# shellcheck disable=SC2086 # words
		keep_octal "root$1" $inside_octal_octal_of
	else
		why "root$1"
	fi
}

# --- the process ----------------------------------------------------------------------------------------------------

start_of() { # PID: $value, when it started (a pid may be given to another); $stat_pid
	quick "/proc/$1/stat" || return 1
	stat_pid=${value%% *}
	# shellcheck disable=SC2086 # words
	set -- ${value##*) }
	[ $# -gt 19 ] || return 1
	shift 19
	value=$1
}

# $value: when it started, and where its program and its stack lie. An exec keeps pid and start, and all handlers of
# signals are gone; these three are others then (0, so equal, where we may not see them: nor may we signal it).
identity() {
	quick "/proc/$pid/stat" || value=
	# shellcheck disable=SC2086 # words
	set -- ${value##*) }
	value=
	[ $# -gt 25 ] || return 1
	shift 19
	value="$1 $5 $6 $7"
}

is_jvm() { # PID
	if within "$read_limit" show "/proc/$1/maps"; then
		case $value in */libjvm.so* | */libj9vm[0-9][0-9].so*) return 0 ;; *) return 1 ;; esac
	fi
	case $ended:$error in
	late:* | *denied* | *permitted*)
		quick "/proc/$1/comm"
		case ${value%"$nl"} in java | jsvc | javaw) return 0 ;; esac
		;;
	esac
	return 1
}

jvms_here() { # $found: every JVM that is seen
	found=
	if if_there grep && within 10 show_jvms; then
		jvms_here_maps=$value
		for jvms_here_file in $jvms_here_maps; do
			jvms_here_file=${jvms_here_file#/proc/}
			found="$found ${jvms_here_file%/maps}"
		done
	fi
	for jvms_here_file in /proc/[0-9]*/comm; do
		quick "$jvms_here_file" || continue
		case ${value%"$nl"} in java | jsvc) ;; *) continue ;; esac
		jvms_here_file=${jvms_here_file#/proc/}
		jvms_here_file=${jvms_here_file%/comm}
		case " $found " in *" $jvms_here_file "*) continue ;; esac
		is_jvm "$jvms_here_file" && found="$found $jvms_here_file"
	done
	found=${found# }
}

show_jvms() {
	grep -l -e '/libjvm\.so' -e '/libj9vm[0-9][0-9]\.so' /proc/[0-9]*/maps
	finish 0 ''
}

children_of() { # PID: $value
	value=
	children_of_children=
	for children_of_file in "/proc/$1"/task/[0-9]*/children; do
		if quick "$children_of_file"; then children_of_children="$children_of_children $value"; fi
	done
	value=$children_of_children
	[ -n "$value" ] || [ ! -e "/proc/$1/task/$1/children" ] || return 0
	[ -z "$value" ] || return 0
	# before Linux 3.5, or without CONFIG_PROC_CHILDREN
	for children_of_file in /proc/[0-9]*/stat; do
		quick "$children_of_file" || continue
		children_of_parent=${value##*) ? }
		children_of_file=${children_of_file#/proc/}
		[ "${children_of_parent%% *}" != "$1" ] || children_of_children="$children_of_children ${children_of_file%/stat}"
	done
	value=$children_of_children
}

descendants() { # PID: $below, at most 64 of them, the near ones first
	below=
	descendants_todo_pids=$1
	while [ -n "$descendants_todo_pids" ]; do
		descendants_next=
		for descendants_one in $descendants_todo_pids; do
			children_of "$descendants_one"
			for descendants_child_pid in $value; do
				case " $below " in *" $descendants_child_pid "*) continue ;; esac
				[ ${#below} -lt 400 ] || return 0
				below="$below $descendants_child_pid"
				descendants_next="$descendants_next $descendants_child_pid"
			done
		done
		descendants_todo_pids=$descendants_next
	done
}

program_of() { # PID: $value, its main class, its jar or its module, to tell it from the others; else its name
	program_of_pid=$1
	if within "$read_limit" show_words "/proc/$1/cmdline"; then
		set -f
		IFS=$sep
		# shellcheck disable=SC2086 # one word each
		set -- $value
		IFS=$blanks
		set +f
		[ $# -eq 0 ] || shift
	else
		set --
	fi
	value=
	while [ $# -gt 0 ]; do
		case $1 in
		# Those that take the next word, of java and of jsvc.
		-cp | -classpath | --class-path | -p | --module-path | --upgrade-module-path | --add-modules | --add-exports | \
			--add-opens | --add-reads | --patch-module | --limit-modules | --enable-native-access | --source | \
			-home | -user | -outfile | -errfile | -pidfile | -wait | -cwd | -umask | -procname | -jvm)
			shift
			;;
		-jar | -m | --module)
			value=${2-}
			break
			;;
		--module=*)
			value=${1#*=}
			break
			;;
		-* | @* | '') ;;
		*)
			value=$1
			break
			;;
		esac
		[ $# -eq 0 ] || shift
	done
	if [ -n "$value" ]; then
		hide "$value"
		value=$hidden
	elif quick "/proc/$program_of_pid/comm"; then
		value=${value%"$nl"}
	fi
	# It goes to a terminal.
	value=$(put "$value" | tr -c '\041-\176' '?')
	[ ${#value} -le 120 ] || value=...${value#"${value%????????????????????????????????????????}"}
	value=${value:-?}
}

list_of() { # PID...: $listed, a line for each
	listed=
	for list_of_one; do
		program_of "$list_of_one"
		listed=$listed$list_of_one\ $value$nl
	done
}

find_target() { # sets $pid, or ends
	if [ -n "$pid" ]; then
		if [ ! -d "/proc/$pid" ]; then
			say "there is no process $pid: nothing is written"
			exit 3
		fi
		is_jvm "$pid" && return
		descendants "$pid"
		found=
		for find_target_one in $below; do ! is_jvm "$find_target_one" || found="$found $find_target_one"; done
		found=${found# }
		case $found in
		'') return ;; # a script that is held up, or a JVM that is not one yet
		esac
	else
		jvms_here
	fi
	case $found in
	'')
		say 'no JVM is seen here, and nothing is written: name a process with --pid, or run as root'
		exit 3
		;;
	*' '*)
		# shellcheck disable=SC2086 # numbers
		list_of $found
		say "several JVMs, and nothing is written: name one with --pid:$nl${listed%"$nl"}"
		exit 3
		;;
	esac
	[ -z "$pid" ] || say "$pid is no JVM itself; below it: $found"
	pid=$found
}

effective_uid() { # FILE, a status: $value
	value=
	quick "$1" || return 0
	field Uid "$value"
	# shellcheck disable=SC2086 # words
	set -- $value
	value=${2-}
}

why_not_permitted() { # $permission: what would help, for the manifest
	effective_uid /proc/self/status
	by_uid=$value
	effective_uid "/proc/$pid/status"
	their_uid=$value
	once /proc/sys/kernel/yama/ptrace_scope || value=
	case $by_uid:${value%"$nl"} in
	*:3) permission='kernel.yama.ptrace_scope is 3: nobody may' ;;
	0:*) permission='needs CAP_SYS_PTRACE; a security module or another user namespace may forbid it' ;;
	"$their_uid":[12]) permission="kernel.yama.ptrace_scope is ${value%"$nl"}: needs CAP_SYS_PTRACE (root)" ;;
	"$their_uid":*) permission='the process is not dumpable, or a security module may forbid it: run as root' ;;
	*) permission="the process belongs to uid $their_uid: run as that user or as root" ;;
	esac
}

process() { # its own files; the text of some is kept for the guards
	small "proc/$pid/stat"
	small "proc/$pid/status"
	status=$value
	inner=$pid
	field NSpid "$status"
	[ -z "$value" ] || inner=${value##*[!0-9]}
	if [ -z "$value" ] && quick "/proc/$pid/sched"; then # before Linux 4.1
		process_line=${value%%"$nl"*}
		process_line=${process_line#*"("}
		process_line=${process_line%%,*}
		number "$process_line" && inner=$process_line
	fi
	for process_name in cgroup limits comm sched; do small "proc/$pid/$process_name"; done
	for process_name in exe cwd root ns/user ns/pid ns/mnt; do
		link "proc/$pid/$process_name" "/proc/$pid/$process_name"
		case $process_name in
		exe) exe=$value ;;
		cwd) cwd=$value ;;
		root) root_link=$value ;;
		esac
	done
	command_line "$pid"
	argv=$value
	variables
	identity
	read_of=$value
	if within "$read_limit" show "/proc/$pid/maps"; then
		maps=$value
		keep "proc/$pid/maps" "$value"
	else
		maps=
		why "proc/$pid/maps"
	fi
	executable "$pid"
	small "proc/$pid/mountinfo"
	mounts=$value
}

# Of its variables those that can decide, each redacted like an option. The others never leave the host.
variables() {
	environment=
	all_options=$argv
	if within "$read_limit" show_words "/proc/$pid/environ"; then
		set -f
		IFS=$sep
		# shellcheck disable=SC2086 # one word each
		set -- $value
		IFS=$blanks
		set +f
		for variables_variable; do
			variables_name=${variables_variable%%=*}
			case $variables_name in
			*JAVA* | *JDK* | *JRE* | *JVM* | *OPTS | *OPTIONS | *_ARGS | CATALINA_* | container) ;;
			*) continue ;;
			esac
			case $variables_name in
			JAVA_TOOL_OPTIONS | JDK_JAVA_OPTIONS | _JAVA_OPTIONS) given_options "${variables_variable#*=}" "$variables_name" ;;
			esac
			if [ -n "$redact" ]; then
				case $variables_name in
				*PASS* | *PWD* | *SECRET* | *TOKEN* | *CREDENTIAL* | *AUTH | *PIN | *KEY) hidden=$variables_name=$mask ;;
				*) hide_line "$variables_variable" ;;
				esac
				variables_variable=$hidden
			fi
			environment=$environment$variables_variable$sep
		done
		keep_words "proc/$pid/environ" "$environment"
	else
		why "proc/$pid/environ"
	fi
}

given_options() { # WORDS NAME: where the JVM takes them, the last of two wins
	set -f
	given_options_found=
	for given_options_word in $1; do given_options_found=$given_options_found$given_options_word$sep; done
	set +f
	case $2 in
	_JAVA_OPTIONS) all_options=$all_options$given_options_found ;;
	*) all_options=$given_options_found$all_options ;;
	esac
}

executable() { # PID: the first bytes of its program, which tell the architecture
	if [ -z "$has_od" ]; then
		note "proc/$1/exe-header" not-collected 'there is no od'
	elif within "$read_limit" show_octal "/proc/$1/exe" 64; then
		executable_octal_of=$value
		# shellcheck disable=SC2086 # words
		keep_octal "proc/$1/exe-header" $executable_octal_of
	else
		why "proc/$1/exe-header"
	fi
}

# --- its threads ----------------------------------------------------------------------------------------------------

threads() {
	threads_tids=
	for threads_file in "/proc/$pid"/task/[0-9]*; do threads_tids="$threads_tids/${threads_file##*/}"; done
	case $threads_tids in
	*'*'*)
		note "proc/$pid/task" denied "$permission"
		return
		;;
	esac
	note "proc/$pid/task" list "${threads_tids#/}"
	# The first answer may be waited for (the process may be in an exec that hangs), and tells what is denied.
	if within "$read_limit" show "/proc/$pid/task/$pid/syscall"; then syscall=ok; else syscall=$ended:$error; fi
	by_thread=quick
	once /proc/sys/kernel/osrelease
	case $value in [123].*) by_thread=once ;; esac
	IFS=/
	# shellcheck disable=SC2086 # one word each
	set -- ${threads_tids#/}
	IFS=$blanks
	looked_closer=0
	waited_on=
	processors=
	for threads_tid; do
		if late; then
			note "proc/$pid/task/$threads_tid/stat" timed-out "$over"
			note "proc/$pid/task/$threads_tid/syscall" timed-out "$over"
		else
			thread "proc/$pid/task/$threads_tid"
		fi
	done
}

thread() { # PATH
	if ! quick "/$1/stat" || [ -z "$value" ]; then
		note "$1" vanished
		return
	fi
	keep "$1/stat" "$value"
	thread_state=${value##*) }
	call "$1"
	channel "$1"
	if [ -e "/$1/children" ] && quick "/$1/children"; then keep "$1/children" "$value"; else note "$1/children" absent; fi
	if [ "$inner" != "$pid" ]; then small "$1/status"; fi
	small_if "$1/comm"
	case $call_line in
	'' | running* | 202\ * | 98\ *) [ "${1##*/}" = "$pid" ] || return 0 ;; # futex on x86_64, on arm64
	esac
	[ "$looked_closer" -lt 100 ] || return 0
	looked_closer=$((looked_closer + 1))
	small_if "$1/sched"
	small_if "$1/schedstat"
	# shellcheck disable=SC2086 # words
	set -- $thread_state
	shift 36
	case " $processors " in *" ${1-0} "*) ;; *) processors="$processors ${1-0}" ;; esac
	# shellcheck disable=SC2086 # words
	set -- $call_line
	case ${2-} in 0x?????*) ;; 0x*) waited_on="$waited_on $(($2))" ;; esac
}

small_if() { # PATH: a file that not every kernel has
	if quick "/$1" && [ -n "$value" ]; then keep "$1" "$value"; fi
}

call() { # PATH: its system call, $call_line
	call_line=
	case $syscall in
	ok)
		if "$by_thread" "/$1/syscall" && [ -n "$value" ]; then
			keep "$1/syscall" "$value"
			call_line=$value
		else
			whole "$1/syscall" "/$1/syscall"
		fi
		;;
	*)
		ended=${syscall%%:*}
		error=${syscall#*:}
		why "$1/syscall"
		;;
	esac
}

channel() { # PATH: "0" may have been read just before it slept
	for _ in 1 2 3; do
		"$by_thread" "/$1/wchan" || break
		case $value in '' | 0) ;; *) break ;; esac
	done
	if [ -n "$value" ]; then keep "$1/wchan" "$value"; else whole "$1/wchan" "/$1/wchan"; fi
}

# --- what it has open -----------------------------------------------------------------------------------------------

files() { # PID WAITED-ON...: the links of its descriptors; the type of those that are random devices or waited on
	files_of=$1
	shift
	files_known=" $* "
	if ! within "$read_limit" show_links "/proc/$files_of/fd"; then
		why "proc/$files_of/fd"
		return
	fi
	files_listing=$value
	files_numbers=
	sockets=' '
	remote_mounts
	files_types=
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $files_listing
	IFS=$blanks
	set +f
	for files_entry; do
		case $files_entry in l*' -> '*) ;; *) continue ;; esac
		files_number=${files_entry%%" -> "*}
		files_number=${files_number##* }
		number "$files_number" || continue
		files_to=${files_entry#*" -> "}
		files_numbers=$files_numbers/$files_number
		note "proc/$files_of/fd/$files_number" link "$files_to"
		case $files_to in
		'socket:['*)
			files_to=${files_to#*\[}
			sockets="$sockets${files_to%\]} "
			;;
		pipe:* | anon_inode:*) ;;
		*random* | /dev/*) files_types="$files_types $files_number" ;;
		*) case $files_known in *" $files_number "*) files_types="$files_types $files_number" ;; esac ;;
		esac
	done
	note "proc/$files_of/fd" list "${files_numbers#/}"
	for files_number in $files_types; do
		! late || return 0
		small "proc/$files_of/fdinfo/$files_number"
		field mnt_id "$value"
		case $remote in
		*" $value "*) note "proc/$files_of/fd/$files_number" stat:refused 'on another host, whose answer may never come' ;;
		*) kind "proc/$files_of/fd/$files_number" "/proc/$files_of/fd/$files_number" ;;
		esac
	done
}

remote_mounts() { # $remote: the ids of mounts whose server may be gone
	remote=' '
	remote_mounts_listing_of=$mounts
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $remote_mounts_listing_of
	IFS=$blanks
	set +f
	for remote_mounts_entry; do
		case ${remote_mounts_entry#*" - "} in
		nfs* | cifs* | smb3* | ceph* | 9p* | afs* | lustre* | gpfs* | ocfs2* | gfs2* | fuse*)
			remote="$remote${remote_mounts_entry%% *} "
			;;
		esac
	done
}

connections() { # of the network's tables its own sockets alone
	case $sockets in *[0-9]*) ;; *) return 0 ;; esac
	for connections_table in tcp tcp6 udp udp6; do
		if within "$read_limit" show "/proc/$pid/net/$connections_table"; then
			own_sockets
			keep "proc/$pid/net/$connections_table" "$value"
		else
			why "proc/$pid/net/$connections_table"
		fi
	done
}

own_sockets() { # $value: the head of such a table, and the lines of its own
	own_sockets_found=${value%%"$nl"*}$nl
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $value
	IFS=$blanks
	set +f
	for own_sockets_entry; do
		# shellcheck disable=SC2086 # words
		set -- $own_sockets_entry
		case $sockets in *" ${10-none} "*) own_sockets_found=$own_sockets_found$own_sockets_entry$nl ;; esac
	done
	value=$own_sockets_found
}

# --- what it started ------------------------------------------------------------------------------------------------

started() {
	descendants "$pid"
	started_rest_of=$below
	for started_one in $started_rest_of; do
		! late || return 0
		another "$started_one"
	done
}

another() { # PID
	quick "/proc/$1/stat" || return 0
	keep "proc/$1/stat" "$value"
	for another_name in comm wchan status; do small_if "proc/$1/$another_name"; done
	if within "$read_limit" show "/proc/$1/syscall"; then
		keep "proc/$1/syscall" "$value"
		# shellcheck disable=SC2086 # words
		set -- "$1" $value
		another_first=
		case ${3-} in 0x?????*) ;; 0x*) another_first=$(($3)) ;; esac
	else
		why "proc/$1/syscall"
		another_first=
	fi
	command_line "$1"
	whole "proc/$1/maps" "/proc/$1/maps"
	executable "$1"
	names "proc/$1/task" "/proc/$1/task"
	small_if "proc/$1/task/$1/children"
	small_if "proc/$1/task/$1/stat"
	small_if "proc/$1/task/$1/syscall"
	small_if "proc/$1/task/$1/wchan"
	another_sockets=$sockets
	files "$1" "$another_first"
	sockets=$another_sockets
}

# --- its JDK and its settings ---------------------------------------------------------------------------------------

below_root() { # PATH as /proc gives it: $value, as the process sees it (a chroot's directory stands before it)
	value=${1%" (deleted)"}
	case $root_link in
	/ | '') ;;
	*) case $value in "$root_link"/*) value=${value#"$root_link"} ;; esac ;;
	esac
}

home_of_jvm() { # $home: by the virtual machine that is mapped, else by its program
	home=
	library=
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $maps
	IFS=$blanks
	set +f
	for home_of_jvm_line; do
		case $home_of_jvm_line in */libjvm.so* | */libj9vm[0-9][0-9].so*) ;; *) continue ;; esac
		below_root "/${home_of_jvm_line#*/}"
		library=$value
		home=${value%/lib/*}
		case $home_of_jvm_line in */libj9vm*) break ;; esac
	done
	if [ -z "$home" ] && [ -n "$exe" ]; then
		below_root "$exe"
		case $value in */bin/*) home=${value%/bin/*} ;; esac
	fi
}

settings() {
	home_of_jvm
	below_root "$exe"
	[ -z "$value" ] || program "$value"
	[ -z "$library" ] || note "root$library" not-collected 'programs are not sent'
	for settings_device in random urandom; do
		inside_kind "/dev/$settings_device"
		inside_link "/dev/$settings_device"
	done
	inside_link /bin/sh
	performance_data
	if [ -n "$home" ]; then
		inside "$home/release"
		case $home in */jre) inside "${home%/jre}/release" ;; esac
		for settings_place in "$home/conf" "$home/lib" "$home/jre/lib"; do
			inside "$settings_place/security/java.security" && security_files "$settings_place/security"
		done
	fi
	options
}

program() { # PATH: the launcher of a JDK is small, and holds its version
	if within "$read_limit" show_inside show_type "$1" && [ "${value##* }" -le 100000 ]; then
		inside_octal "$1"
	else
		note "root$1" not-collected 'programs are not sent'
	fi
}

security_files() { # FOLDER: what the java.security in $value names: more files, and the seed source
	security_files_folder=$1
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $value
	IFS=$blanks
	set +f
	for security_files_entry; do
		case $security_files_entry in
		'include '/*) inside "${security_files_entry#include }" ;;
		'include '*) inside "$security_files_folder/${security_files_entry#include }" ;;
		securerandom.source=file:*) seed_file "${security_files_entry#*=}" ;;
		esac
	done
}

seed_file() { # URL
	seed_file_url=${1#[Ff][Ii][Ll][Ee]:}
	[ "$seed_file_url" != "$1" ] || return 0
	case $seed_file_url in
	///*) seed_file_url=${seed_file_url#//} ;;
	//*) return 0 ;;
	/*) ;;
	*) at_work "$seed_file_url" && seed_file_url=$value ;;
	esac
	case $seed_file_url in /dev/random | /dev/urandom) return 0 ;; /*) inside_kind "$seed_file_url" ;; esac
}

at_work() { # PATH that its working directory stands before: $value
	below_root "$cwd"
	case $1 in /*) value=$1 ;; *) value=${value%/}/$1 ;; esac
}

options() { # files that its options name
	set -f
	IFS=$sep
	# shellcheck disable=SC2086 # one word each
	set -- $all_options
	IFS=$blanks
	set +f
	for options_option; do
		case $options_option in
		-Djava.security.egd=*) seed_file "${options_option#*=}" ;;
		-Djava.security.properties=*)
			options_option=${options_option#*=}
			options_option=${options_option#=}
			options_option=${options_option#file:}
			at_work "$options_option"
			inside "$value" && security_files "${options_option%/*}"
			;;
		@@*) ;;
		@?* | -XX:Flags=* | -XX:VMOptionsFile=*)
			options_option=${options_option#@}
			at_work "${options_option#*=}"
			inside "$value"
			;;
		-Dcatalina.base=* | -Dcatalina.home=*) tomcat "${options_option#*=}" ;;
		esac
	done
}

tomcat() { # FOLDER
	case $1 in /*) ;; *) return 0 ;; esac
	inside_kind "${1%/}"
	kind "${1#/}" "$1"
	inside "${1%/}/bin/setenv.sh"
	inside_kind "${1%/}/bin/catalina.sh"
	inside_kind "${1%/}/bin/daemon.sh"
}

performance_data() { # /tmp/hsperfdata_USER/PID: the JDK's version, the JVM's own list of its options
	perf=
	if ! within "$read_limit" show_inside show_owners /tmp; then
		why root/tmp list:
		return
	fi
	IFS=/
	# shellcheck disable=SC2086 # words
	set -- $value
	IFS=$blanks
	performance_data_names=
	for performance_data_owner; do performance_data_names=$performance_data_names/$performance_data_owner; done
	note root/tmp list "$performance_data_names"
	for performance_data_owner; do
		within "$read_limit" show_inside show_printable "/tmp/$performance_data_owner/$inner" || continue
		perf=$perf$nl$value
		performance_data_text=$value
		if ! redacted_text || [ "$value" != "$performance_data_text" ]; then
			note "root/tmp/$performance_data_owner/$inner" not-collected 'it holds what may be a secret (--no-redact)'
		else
			inside_octal "/tmp/$performance_data_owner/$inner"
		fi
		inside_kind "/tmp/$performance_data_owner/$inner"
	done
}

show_owners() { # FOLDER: hsperfdata_* in it, parted by /
	if [ ! -r "$1" ] || [ ! -x "$1" ]; then
		absent_or_denied "$1"
		return
	fi
	for show_owners_name in "$1"/hsperfdata_*/"$inner"; do
		[ -f "$show_owners_name" ] || continue
		show_owners_name=${show_owners_name%/*}
		put "/${show_owners_name##*/}"
	done
	finish 0 ''
}

show_printable() { # FILE
	if [ ! -r "$1" ]; then
		absent_or_denied "$1"
	else
		tr -cs '\040-\176' '\n' <"$1"
		finish $? ''
	fi
}

# --- the host -------------------------------------------------------------------------------------------------------

host() {
	for host_name in version uptime loadavg lrng_type pressure/memory; do small "proc/$host_name"; done
	for host_name in kernel/osrelease crypto/fips_enabled; do whole "proc/sys/$host_name" "/proc/sys/$host_name"; done
	names proc/sys/kernel/random /proc/sys/kernel/random
	for host_name in entropy_avail poolsize read_wakeup_threshold write_wakeup_threshold urandom_min_reseed_secs; do
		# Not uuid: to read it takes random bytes.
		whole "proc/sys/kernel/random/$host_name" "/proc/sys/kernel/random/$host_name"
	done
	names sys/class/misc/hw_random /sys/class/misc/hw_random
	for host_name in rng_current rng_quality rng_available; do
		whole "sys/class/misc/hw_random/$host_name" "/sys/class/misc/hw_random/$host_name"
	done
	for host_name in etc/os-release usr/lib/os-release etc/centos-release etc/redhat-release etc/system-release; do
		whole "$host_name" "/$host_name"
	done
	for host_name in class/dmi/id/sys_vendor hypervisor/type; do whole "sys/$host_name" "/sys/$host_name"; done
	if [ -n "$has_od" ] && within "$read_limit" show_octal /sys/firmware/acpi/tables/FACP; then
		host_octal=$value
		# shellcheck disable=SC2086 # words
		keep_octal sys/firmware/acpi/tables/FACP $host_octal
	else
		why sys/firmware/acpi/tables/FACP
	fi
	whole run/systemd/container /run/systemd/container
	for host_name in .dockerenv run/.containerenv; do kind "$host_name" "/$host_name"; done
	small proc/2/comm
	small proc/1/comm
	link proc/1/ns/mnt /proc/1/ns/mnt
	for host_name in mnt pid user; do link "proc/self/ns/$host_name" "/proc/self/ns/$host_name"; done
	whole proc/self/mountinfo /proc/self/mountinfo
	own_mounts=$value
	processor
	log_of_kernel
	control_groups
	clocks
	if [ -e /proc/sys/kernel/random/read_wakeup_threshold ]; then daemons; fi
}

processor() { # the first one; a host has hundreds
	text=
	{
		while IFS= read -r processor_line && [ -n "$processor_line" ]; do text=$text$processor_line$nl; done
	} 2>/dev/null </proc/cpuinfo
	[ -n "$text" ] || return 0
	keep proc/cpuinfo "$text"
}

log_of_kernel() {
	if ! if_there dmesg || ! within "$read_limit" show_log || [ -z "$value" ]; then
		note dmesg denied 'dmesg says nothing: kernel.dmesg_restrict is on (needs root), or there is none'
		return
	fi
	log_of_kernel_found=
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $value
	IFS=$blanks
	set +f
	for log_of_kernel_entry; do
		case $log_of_kernel_entry in
		*random:* | *crng* | *'random number'* | *'Linux version'*)
			log_of_kernel_found=$log_of_kernel_found$log_of_kernel_entry$nl
			;;
		esac
	done
	keep dmesg "$log_of_kernel_found"
}

show_log() {
	dmesg
	finish $? ''
}

control_groups() { # the figures of its groups and of those above
	control_groups_groups_of=
	quick "/proc/$pid/cgroup" && control_groups_groups_of=$value
	groups_done=
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $control_groups_groups_of
	IFS=$blanks
	set +f
	for control_groups_group; do
		control_groups_group=${control_groups_group#*:}
		control_groups_controllers=${control_groups_group%%:*}
		case ,$control_groups_controllers, in ,, | *,cpu,* | *,freezer,* | *,pids,*) mounts_of_group "$control_groups_controllers" "${control_groups_group#*:}" ;; esac
	done
}

mounts_of_group() { # CONTROLLERS PATH
	mounts_of_group_controllers=$1
	mounts_of_group_path=$2
	set -f
	IFS=$nl
	# shellcheck disable=SC2086 # one line each
	set -- $own_mounts
	IFS=$blanks
	set +f
	for mounts_of_group_line; do
		case $mounts_of_group_controllers:${mounts_of_group_line#*" - "} in
		:cgroup2*) ;;
		?*:cgroup\ *)
			case ,${mounts_of_group_line##*" "}, in *,"${mounts_of_group_controllers%%,*}",*) ;; *) continue ;; esac
			;;
		*) continue ;;
		esac
		group_files "$mounts_of_group_path" "$mounts_of_group_line"
	done
}

group_files() { # PATH MOUNT-LINE
	group_files_inside=$1
	# shellcheck disable=SC2086 # words
	set -- $2
	case $4 in
	/) ;;
	*)
		case $group_files_inside/ in "$4"/*) group_files_inside=${group_files_inside#"$4"} ;; *) return 0 ;; esac
		;;
	esac
	group_files_inside=${group_files_inside%/}
	while :; do
		group_files_group_folder=${5#/}$group_files_inside
		case " $groups_done " in
		*" $group_files_group_folder "*) ;;
		*)
			groups_done="$groups_done $group_files_group_folder"
			for group_files_name in cpu.stat freezer.state cgroup.events cgroup.freeze pids.max pids.current; do
				small "$group_files_group_folder/$group_files_name"
				case $group_files_name:$value in
				freezer.state:FROZEN* | freezer.state:FREEZING* | cgroup.freeze:1*) frozen=/$group_files_group_folder ;;
				pids.max:[0-9]*) most_tasks=${value%"$nl"} ;;
				pids.max:*) most_tasks= ;;
				pids.current:[0-9]*)
					if [ -n "$most_tasks" ] && [ $((${value%"$nl"} + 3)) -gt "$most_tasks" ]; then
						full="pids.max of /$group_files_group_folder: ${value%"$nl"} of $most_tasks"
					fi
					;;
				esac
			done
			;;
		esac
		[ -n "$group_files_inside" ] || break
		group_files_inside=${group_files_inside%/*}
	done
}

clocks() { # the clock of each processor that a waiting thread ran on
	if_there taskset || return 0
	for clocks_cpu in $processors; do
		if within "$read_limit" show_clock "$clocks_cpu"; then keep "probe/schedclock/$clocks_cpu" "$value"; fi
	done
}

show_clock() { # CPU
	taskset -c "$1" cat /proc/self/sched
	finish $? ''
}

daemons() { # a kernel with a pool: who feeds it
	daemons_pids=
	for daemons_file in /proc/[0-9]*/comm; do
		! late || break
		daemons_one=${daemons_file#/proc/}
		daemons_one=${daemons_one%/comm}
		quick "$daemons_file" || continue
		daemons_pids=$daemons_pids/$daemons_one
		case ${value%"$nl"} in
		rngd | haveged | jitterentropy-r | ekeyd | ekey-egd-linux | clrngd | audio-entropyd | timer_entropyd)
			keep "proc/$daemons_one/comm" "$value"
			command_line "$daemons_one"
			;;
		esac
	done
	daemon_pids=${daemons_pids#/}
	for daemons_name in etc/systemd/system usr/lib/systemd/system lib/systemd/system etc/init.d etc/rc.d/init.d; do
		names "$daemons_name" "/$daemons_name"
	done
}

# --- a dump of its threads ------------------------------------------------------------------------------------------

# Why the JVM must not be sent SIGQUIT: $refusal. jstack sends it as well, and starts a thread of the JVM besides.
guards() { # jstack or signal
	refusal=
	quick "/proc/$pid/stat" || value=
	case ${value##*) } in
	[ZX]*) refusal='it has ended' ;;
	[Tt]*) refusal='it is stopped: kill -CONT lets it go on' ;;
	'') refusal='its state cannot be read' ;;
	esac
	[ -z "$refusal" ] || return 1
	case $maps in
	*/libj9vm[0-9][0-9].so*) refusal='it is an OpenJ9 JVM: kill -3 makes it write a javacore file' ;;
	*/libjvm.so*) ;;
	'') refusal="what it maps cannot be read: $permission" ;;
	*) refusal='it is no HotSpot JVM, or not one yet' ;;
	esac
	[ -z "$refusal" ] || return 1
	quick "/proc/$pid/status" || value=
	status=$value
	of_its_signals || return 1
	of_its_options || return 1
	of_its_program || return 1
	if [ -n "$frozen" ]; then
		refusal="its control group is frozen: $frozen"
		return 1
	fi
	if [ "$1" = jstack ]; then of_its_limits || return 1; fi
	still_the_same
}

# Right before it is touched, by builtins alone: by an exec it may have become a program that dies of SIGQUIT, or it may
# have ended, and its number be another's. No check can be nearer: pidfd_send_signal is no shell's.
still_the_same() {
	identity
	if [ -z "$value" ] || [ "$value" != "$read_of" ]; then
		refusal='it has ended, or become another program, since it was looked at'
		return 1
	fi
	quick "/proc/$pid/status" || value=
	status=$value
	field SigCgt "$status"
	has_quit "$value" && return
	refusal='it does not handle SIGQUIT any more'
	return 1
}

has_quit() { # MASK in hex: is bit 2 (SIGQUIT) in it?
	case $1 in *[4567cdefCDEF]) ;; *) return 1 ;; esac
}

of_its_signals() {
	field TracerPid "$status"
	case $value in
	0) ;;
	*)
		of_its_signals_tracer=$value
		quick "/proc/$of_its_signals_tracer/comm"
		case ${value%"$nl"} in strace | ltrace | perf) ;; *)
			refusal="it is being debugged by process $of_its_signals_tracer"
			return 1
			;;
		esac
		;;
	esac
	field SigCgt "$status"
	if ! has_quit "$value"; then
		refusal='it does not handle SIGQUIT, which would end it: it is still starting, or was started with -Xrs'
		return 1
	fi
	for of_its_signals_name in SigPnd ShdPnd; do
		field $of_its_signals_name "$status"
		if has_quit "$value"; then
			refusal='a SIGQUIT sent earlier is still pending'
			return 1
		fi
	done
	for of_its_signals_file in "/proc/$pid/status" "/proc/$pid"/task/[0-9]*/status; do
		quick "$of_its_signals_file" || continue
		field SigBlk "$value"
		[ -n "$value" ] || continue
		has_quit "$value" || return 0
	done
	refusal='every thread of it blocks SIGQUIT'
	return 1
}

of_its_options() {
	case $sep$all_options in
	*"$sep-Xrs$sep"* | *"$sep-XX:+ReduceSignalUsage$sep"*) refusal='it was started with -Xrs' ;;
	esac
	case $perf in *-Xrs* | *+ReduceSignalUsage*) refusal='it was started with -Xrs' ;; esac
	[ -n "$refusal" ] && return 1
	case $argv in '') refusal="its options cannot be read: $permission" && return 1 ;; esac
	case $perf:$sep$all_options in
	:*"$sep@"* | :*"$sep-XX:Flags="* | :*"$sep-XX:VMOptionsFile="*)
		refusal='options of its stand in a file, and it publishes none of them: whether -Xrs is among them cannot be told'
		return 1
		;;
	esac
	return 0
}

of_its_program() { # a program with a JVM inside may take SIGQUIT for itself
	below_root "$exe"
	case $value in
	*/java | */jsvc) return 0 ;;
	"$home"/bin/* | "${home%/jre}"/bin/*) [ -z "$home" ] || return 0 ;;
	esac
	refusal="${exe:-its program} may have a JVM inside: what SIGQUIT does to it cannot be told"
	return 1
}

of_its_limits() { # room for one more thread: without, the JVM ends itself (JDK 11 to 25)
	case $sep$all_options$perf in
	*+DisableAttachMechanism*)
		refusal='attaching is switched off (-XX:+DisableAttachMechanism)'
		return 1
		;;
	esac
	quick "/proc/$pid/limits" || value=
	limits=$value
	quick /proc/loadavg || value=
	# shellcheck disable=SC2086 # words
	set -- $value
	of_its_limits_all=${4#*/}
	case $own_mounts in *' /proc/loadavg '*) of_its_limits_all= ;; esac
	if ! number "$of_its_limits_all"; then
		refusal='how many threads the host has cannot be told'
		return 1
	fi
	for of_its_limits_name in threads-max pid_max; do
		once "/proc/sys/kernel/$of_its_limits_name" || value=0
		[ $((of_its_limits_all + 3)) -le "${value%"$nl"}" ] || full="kernel.$of_its_limits_name: $of_its_limits_all of ${value%"$nl"}"
	done
	limit 'Max processes'
	if number "$value" && [ $((of_its_limits_all + 3)) -gt "$value" ] && [ "$their_uid" != 0 ]; then
		full="RLIMIT_NPROC: $value, and the host has $of_its_limits_all threads"
	fi
	limit 'Max open files'
	of_its_limits_most=$value
	field FDSize "$status"
	if number "$of_its_limits_most" && [ $((${value:-0} + 8)) -gt "$of_its_limits_most" ]; then
		of_its_limits_count=0
		for _ in "/proc/$pid"/fd/*; do of_its_limits_count=$((of_its_limits_count + 1)); done
		[ $((of_its_limits_count + 8)) -le "$of_its_limits_most" ] || full="RLIMIT_NOFILE: $of_its_limits_count of $of_its_limits_most"
	fi
	for of_its_limits_name in 'Max address space:VmSize' 'Max data size:VmData'; do
		limit "${of_its_limits_name%:*}"
		of_its_limits_most=$value
		field "${of_its_limits_name#*:}" "$status"
		case $of_its_limits_most in
		unlimited | '') ;;
		*)
			of_its_limits_now=${value%% *}
			of_its_limits_most=${of_its_limits_most%???} # bytes, as thousands
			if ! number "$of_its_limits_most" || [ $((of_its_limits_now + 70000)) -gt "$of_its_limits_most" ]; then full="${of_its_limits_name%:*}: $of_its_limits_now kB now"; fi
			;;
		esac
	done
	once /proc/sys/vm/overcommit_memory || value=
	case $value in 2*) full='vm.overcommit_memory is 2: whether there is memory for it is not looked at here' ;; esac
	once /proc/sys/vm/max_map_count || value=0
	of_its_limits_most=${value%"$nl"}
	lines_of "$maps"
	[ $((value + 32)) -le "$of_its_limits_most" ] || full="vm.max_map_count: $value of $of_its_limits_most"
	[ -z "$full" ] && return 0
	refusal="little room ($full): asked for a dump it could end itself"
	return 1
}

limit() { # NAME: $value, its soft limit
	value=
	case $limits in
	*"$1"*)
		value=${limits#*"$1"}
		# shellcheck disable=SC2086 # words
		set -- ${value%%"$nl"*}
		value=$1
		;;
	esac
}

lines_of() { # TEXT: $value
	IFS=$nl
	set -f
	# shellcheck disable=SC2086 # lines
	set -- $1
	set +f
	IFS=$blanks
	value=$#
}

dump() { # PATH: by jstack, or by kill -3 and its log
	case $passive in yes)
		note "$1" refused 'the JVM was not to be asked (--passive)'
		return
		;;
	esac
	by_jstack "$1" && return
	if [ -z "$signal" ]; then
		note "$1" refused "no jstack: $refusal; --signal would take kill -3"
	elif ! by_signal "$1"; then
		note "$1" refused "jstack: $jstack_refusal; kill -3: $refusal"
	fi
}

by_jstack() { # PATH
	tool=
	for by_jstack_tool in "$home/bin/jstack" "${home%/jre}/bin/jstack" jstack; do
		if [ -n "$home" ] && within "$read_limit" show_program "$by_jstack_tool"; then
			tool=$by_jstack_tool
			break
		fi
	done
	refusal=
	if [ -z "$tool" ]; then
		refusal='there is none on this host'
	elif [ "$by_uid" != "$their_uid" ] && before_9; then
		# It would send the signal, and the JVM, not taking root's file for its user's, would print a dump itself.
		refusal='the jstack of JDK 8 and before asks no JVM of another user: run this as that user'
	elif ! same_files; then
		refusal='the JVM sees another file system than we (a container): run this inside it'
	elif [ "$by_uid" != 0 ] && [ "$by_uid" != "$their_uid" ]; then
		refusal=$permission
	elif ! { trusted "$tool" && trusted "$library"; }; then
		refusal="$tool lies where others than root can put a program: not run as root"
	else
		attach_files
		by_jstack_before=$value
		guards jstack
	fi
	! late || refusal=$over
	jstack_refusal=$refusal
	[ -z "$refusal" ] || return 1
	did="${did}did${tab}asked $pid for a dump of its threads: $tool $pid$nl"
	within 20 show_jstack "$tool"
	by_jstack_dumped=$value
	by_jstack_how=$ended
	attach_files
	# What jstack leaves where it is killed makes the next kill -3 print nothing.
	[ "$by_jstack_how" != late ] || for by_jstack_file in $value; do
		case " $by_jstack_before " in *" $by_jstack_file "*) ;; *) rm -f "$by_jstack_file" ;; esac
	done
	case $by_jstack_how:$by_jstack_dumped in
	0:*'Full thread dump '*)
		keep_dump "$1" "$by_jstack_dumped"
		return
		;;
	late:*) refusal='it did not answer in time' ;;
	*) refusal="$tool failed: ${error:-no dump}" ;;
	esac
	jstack_refusal=$refusal
	return 1
}

keep_dump() { # PATH TEXT: names of threads and lines of a log in it may tell secrets; places in programs do not
	value=$2
	if redacted_text "${tab}at *"; then keep "$1" "$value"; else why "$1"; fi
}

# A JVM's own JDK may be its user's, who could so have any program run as root. Each folder above it, and it itself,
# must be root's, and nobody else may write there.
trusted() { # FILE
	[ "$by_uid" = 0 ] && [ "$their_uid" != 0 ] || return 0
	case $1 in /*) trusted_path=$1 ;; *) trusted_path=$(command -v "$1") ;; esac
	for _ in 1 2 3 4 5 6 7 8; do
		trusted_link=$trusted_path
		within "$read_limit" show_link "$trusted_path" || value=
		case $value in
		'') break ;;
		/*) trusted_path=$value ;;
		*) trusted_path=${trusted_path%/*}/$value ;;
		esac
		trusted_path "${trusted_link%/*}" || return 1
	done
	[ -z "$value" ] && trusted_path "$trusted_path"
}

trusted_path() { # PATH: it and what is above it
	trusted_path_left=$1
	while :; do
		within "$read_limit" show_type "${trusted_path_left:-/}" || return 1
		# shellcheck disable=SC2086 # words
		set -- $value
		case $1 in *[2367]? | *[2367]) return 1 ;; esac
		[ "${5-}" = 0 ] || return 1
		[ -n "$trusted_path_left" ] || return 0
		trusted_path_left=${trusted_path_left%/*}
	done
}

before_9() { # by its layout: lib/amd64/server until 8, lib/server since
	case $library in */lib/server/* | */lib/client/* | */lib/minimal/* | */lib/zero/*) return 1 ;; esac
}

same_files() { # has it our root, and our /tmp, where its socket will lie?
	[ "$root_link:$inner" = "/:$pid" ] || return 1
	within "$read_limit" show_type /tmp || return 1
	same_files_ours=$value
	within "$read_limit" show_type "$root/tmp" && [ "$value" = "$same_files_ours" ]
}

show_program() { # NAME: is it there? (its server may not be)
	if_there "$1"
	finish $? ''
}

show_jstack() { # PROGRAM
	unset JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
	exec 6>&1
	show_jstack_error=$("$1" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC "$pid" 2>&1 >&6 6>&-)
	finish $? "$show_jstack_error"
}

attach_files() { # $value
	within "$read_limit" show_attach_files || value=
}

show_attach_files() {
	for show_attach_files_file in "/proc/$pid/cwd/.attach_pid$inner" "$root/tmp/.attach_pid$inner"; do
		if [ -e "$show_attach_files_file" ]; then put " $show_attach_files_file"; fi
	done
	finish 0 ''
}

by_signal() { # PATH
	guards signal || return 1
	attach_files
	if [ -n "$value" ]; then
		refusal="$value lies there: the JVM would take the signal for a call to attach"
		return 1
	fi
	within "$read_limit" show_type "/proc/$pid/fd/1" || value=
	case $value in
	10????' '*) ;; # a FIFO's has five digits
	*)
		quiet_link "/proc/$pid/fd/1"
		refusal="its standard output is no file (${value:-not to be read}): the dump would go where we do not read"
		return 1
		;;
	esac
	by_signal_length=${value##* }
	if late; then
		refusal=$over
		return 1
	fi
	still_the_same || return 1
	if ! kill -3 "$pid" 2>/dev/null; then
		refusal='it may not be signalled'
		return 1
	fi
	did="${did}did${tab}kill -3 $pid$nl"
	by_signal_dumped=
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		! late || break
		sleep 1
		within "$read_limit" show_tail "/proc/$pid/fd/1" "$((by_signal_length + 1))" || continue
		by_signal_earlier=$by_signal_dumped
		by_signal_dumped=$value
		case $by_signal_dumped in *'Full thread dump '*'JNI global ref'*) [ "$by_signal_earlier" != "$by_signal_dumped" ] || break ;; esac
	done
	case $by_signal_dumped in
	*'Full thread dump '*)
		keep_dump "$1" "Full thread dump ${by_signal_dumped#*"Full thread dump "}"
		return 0
		;;
	esac
	refusal='signalled, and no dump came into its log within 10 s'
	return 1
}

quiet_link() {
	value=
	if within "$read_limit" show_link "$1"; then return; fi
	value=
}

show_tail() { # FILE FROM
	exec 6>&1
	show_tail_error=$(tail -c "+$2" "$1" 2>&1 >&6 6>&-)
	finish $? "$show_tail_error"
}

# --- all of it ------------------------------------------------------------------------------------------------------

words() { # the command line
	while [ $# -gt 0 ]; do
		case $1 in
		--pid=* | --takes=* | --every=* | --timeout=* | --read-limit=*)
			words_option=${1%%=*}
			words_given=${1#*=}
			shift
			set -- "$words_option" "$words_given" "$@"
			;;
		esac
		case $1 in
		--pid | --takes | --every | --timeout | --read-limit)
			if ! number "${2-}"; then
				say "$1 needs a number"
				exit 2
			fi
			words_given=${2#"${2%%[!0]*}"} # 010 would be 8, and 08 an error
			words_given=${words_given:-0}
			case $1 in
			--pid) pid=$words_given ;;
			--takes) takes=$words_given ;;
			--every) every=$words_given ;;
			--timeout) timeout=$words_given ;;
			--read-limit) read_limit=$words_given ;;
			esac
			shift 2
			;;
		--signal) signal=yes && shift ;;
		--passive | --no-jstack) passive=yes && shift ;;
		--no-redact) redact='' && shift ;;
		--list) list=yes && shift ;;
		--help)
			usage
			exit 0
			;;
		--version)
			put "seedstall-collect @VERSION@$nl"
			exit 0
			;;
		*)
			say "what is $1? --help tells the options"
			exit 2
			;;
		esac
	done
}

search_path() { # PATH: as root none of a working directory's programs is run, whoever can write there
	# shellcheck disable=SC2123 # that one is meant
	PATH=
	set -f
	IFS=:
	# shellcheck disable=SC2086 # its parts
	set -- ${1:-/usr/local/bin:/usr/bin:/bin}:/usr/sbin:/sbin:/busybox
	IFS=$blanks
	set +f
	for search_path_part; do
		case $search_path_part in /*) PATH=$PATH${PATH:+:}$search_path_part ;; esac
	done
}

prepare() {
	# Whatever the caller's shell has on: -a would export each text that we hold to each program, -f find no files.
	set +aefuvxC
	# A name that came by the environment is exported with what we put into it, and then no program can be started.
	unset -v value pid root maps status limits mounts manifest noted home exe argv text error perf environment found kept \
		all_options below library cwd sockets remote replaced hidden digits octal sum zeros escaped did top take tool \
		permission refusal own_mounts processors waited_on syscall over now deadline full frozen
	# What makes ls and grep print otherwise.
	unset -v QUOTING_STYLE LS_BLOCK_SIZE BLOCK_SIZE BLOCKSIZE TIME_STYLE GREP_OPTIONS GREP_COLOR CDPATH
	LC_ALL=C
	constants
	search_path "${PATH-}"
	export LC_ALL PATH
	umask 077
	case $(command -v printf) in
	/*)
		# shellcheck disable=SC3044,SC2317 # mksh, which has no printf of its own
		put() { print -rn -- "$1"; }
		# shellcheck disable=SC2317
		pute() { print -n -- "$1"; }
		# shellcheck disable=SC2317
		puto() {
			for prepare_byte; do print -n -- "\\0$prepare_byte"; done
		}
		;;
	esac
	guard_signal=-15
	[ -z "${KSH_VERSION-}" ] || guard_signal=-9
	for prepare_tool in cat tr sleep; do
		if ! if_there "$prepare_tool"; then
			say "there is no $prepare_tool on this host"
			exit 1
		fi
	done
	has_od='' has_head='' deadline=99999999 over=''
	if if_there od; then has_od=yes; fi
	if if_there head; then has_head=yes; fi
	zeros16='\0000\0000\0000\0000\0000\0000\0000\0000'
	zeros16=$zeros16$zeros16
	zeros128=$zeros16$zeros16$zeros16$zeros16$zeros16$zeros16$zeros16$zeros16
	zeros 100
	rest_of_header="${zeros}ustar\\000000"
	zeros 247
	rest_of_header=$rest_of_header$zeros
	pid='' list='' signal='' passive='' redact=yes takes=1 every=5 timeout=60 read_limit=5
	weighed=' ' weighed_above=' '
	weigh /stat && stat_sum=$sum
	weigh /syscall && syscall_sum=$sum
	weigh /wchan && wchan_sum=$sum
	weigh /comm && comm_sum=$sum
	weigh /children && children_sum=$sum
	take='' kept='''' manifest='' noted='' did='' frozen='' full='' most_tasks='' seen_inside='' daemon_pids=''
	permission='' error='' ended=0 own_mounts='' mounts='' remote=' ' sockets=' ' processors='' syscall=ok
}

# Should the receiver stop reading, or a builtin hang: this ends us a while after the time is over.
watch() {
	read -r watch_me _ </proc/self/stat
	start_of "$watch_me"
	watch_my_start=$value
	(
		trap 'kill $! 2>/dev/null; exit 0' TERM
		watch_ticks=0
		while [ "$watch_ticks" -lt $((timeout + 60 + takes * every)) ]; do
			sleep 2 &
			wait $!
			watch_ticks=$((watch_ticks + 2))
			start_of "$watch_me" && [ "$value" = "$watch_my_start" ] || exit 0
		done
		kill "$watch_me"
		sleep 2
		start_of "$watch_me" && [ "$value" = "$watch_my_start" ] && kill -9 "$watch_me"
	) </dev/null >/dev/null 2>&1 &
	watcher=$!
	trap 'kill "$watcher" 2>/dev/null' EXIT
	trap 'exit 130' INT
	trap 'exit 129' HUP
	trap 'exit 143' TERM
	trap 'exit 141' PIPE
}

head_of_bundle() {
	taken=$(date -u +%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
	head_of_bundle_secrets=secrets
	[ -n "$redact" ] || head_of_bundle_secrets=none
	! late || did="${did}late$tab$over$nl"
	keep seedstall-bundle "seedstall-bundle${tab}1
tool${tab}seedstall-collect @VERSION@
pid$tab$pid
taken$tab$taken
by-uid$tab$by_uid
redacted$tab$head_of_bundle_secrets
anonymised${tab}no
only-environ${tab}the variables of Java and its wrappers
only-dmesg${tab}the lines on random numbers, and the release
only-net${tab}the sockets of the JVM
only-cpuinfo${tab}the first processor
only-tmp${tab}hsperfdata_*
$did"
}

finish_take() {
	noted_down
	keep manifest.tsv "$manifest"
	manifest=
}

first_take() {
	process
	threads
	# shellcheck disable=SC2086 # numbers
	files "$pid" $waited_on
	late || connections
	late || settings
	late || host
	late || started
	first_take_numbers=$daemon_pids
	[ -z "$first_take_numbers" ] || note proc list "$first_take_numbers"
	if late; then note jvm/threaddump.txt timed-out "$over"; else dump jvm/threaddump.txt; fi
	head_of_bundle
	finish_take
}

later_take() { # N
	take="takes/$1/"
	small proc/uptime
	small proc/loadavg
	small "proc/$pid/stat"
	small "proc/$pid/status"
	threads
	# shellcheck disable=SC2086 # numbers
	files "$pid" $waited_on
	whole proc/sys/kernel/random/entropy_avail /proc/sys/kernel/random/entropy_avail
	clocks
	if late; then note jvm/threaddump.txt timed-out "$over"; else dump jvm/threaddump.txt; fi
	finish_take
}

main() {
	prepare
	words "$@"
	clock
	if [ ! -r /proc/self/stat ]; then
		say 'there is no /proc here: nothing can be read of a process'
		exit 1
	fi
	deadline=$((now + timeout))
	over="the time for all of it ($timeout s) was over"
	if [ -n "$list" ]; then
		jvms_here
		# shellcheck disable=SC2086 # numbers
		list_of $found
		deliver put "$listed"
		exit 0
	fi
	watch
	mtime=$(date +%s 2>/dev/null)
	number_or_zero
	digits "$mtime" 11
	mtime=$digits
	weigh "$mtime"
	mtime_sum=$sum
	find_target
	root=/proc/$pid/root
	why_not_permitted
	main_stamp=$(date -u +%Y%m%dT%H%M%SZ 2>/dev/null)
	top=seedstall-$pid${main_stamp:+-$main_stamp}
	first_take
	main_take=2
	while [ "$main_take" -le "$takes" ] && ! late; do
		# The pauses come on top: what is limited is the work.
		deadline=$((deadline + every))
		sleep "$every"
		later_take "$main_take"
		main_take=$((main_take + 1))
	done
	zeros 1024
	deliver pute "$zeros"
	exit 0
}

number_or_zero() { case $mtime in '' | *[!0-9]*) mtime=0 ;; esac; }

{
	main "$@"
	exit
}
