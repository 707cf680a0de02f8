# Three statements, which the search picks, on a table whose rows a trigger counts. In the end the
# count must be that of the rows. "$1" is a pragma to begin with.
choose() {
	[ -c /dev/ariadne ] || { echo 0; return; }
	{ echo "choose $1" >&3; read -r c <&3; } 3<>/dev/ariadne
	echo "$c"
}
sql="pragma journal_mode = memory; $1
create table account (id integer primary key, owner text unique);
create table total (n integer); insert into total values (0);
create trigger opened after insert on account begin update total set n = n + 1; end;
create trigger closed after delete on account begin update total set n = n - 1; end;
"
for owner in ann bob cid; do
	[ "$(choose 2)" = 0 ] || owner=ann
	case $(choose 4) in
	0) sql="$sql insert or ignore into account (owner) values ('$owner');" ;;
	1) sql="$sql delete from account where owner = '$owner';" ;;
	2) sql="$sql insert or replace into account (owner) values ('$owner');" ;;
	3) sql="$sql begin; delete from account; rollback;" ;;
	esac
done
said=$(sqlite3 :memory: "$sql select (select count(*) from account) || ' rows, counted ' || n from total")
echo "$said" | tail -1
case $said in
*"0 rows, counted 0" | *"1 rows, counted 1" | *"2 rows, counted 2" | *"3 rows, counted 3") ;;
*) echo "$sql" | tail -1 >&2; kill -ABRT $$ ;;
esac
