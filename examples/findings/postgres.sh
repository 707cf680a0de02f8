# PostgreSQL, the primary, by psql.
servers=(n1)
sql() { PGCONNECT_TIMEOUT=3 psql -h "$1" -U postgres -At -v ON_ERROR_STOP=1 -c "$2" 2>/dev/null; }
prepare() { sql "$1" "create table if not exists r (id int primary key, v text); insert into r values (1, '') on conflict do nothing" >/dev/null || return 1; }
put() { sql "$1" "update r set v = '$2'" >/dev/null || return 2; }
get() { sql "$1" "select v from r" || return 1; }
