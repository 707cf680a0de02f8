%% A counter in a Mnesia table that two nodes have a copy of. Each node runs a gen_server that adds to it.
-module(counter).
-behaviour(gen_server).
-export([start/0, client/0, init/1, handle_call/3, handle_cast/2]).
-record(counter, {name, value}).

servers() -> ['a@a.example', 'b@b.example'].

%% start runs on both servers: the first one makes the table, the second one gets a copy.
start() ->
    {ok, _} = gen_server:start({local, counter}, ?MODULE, [], []),
    io:format("~p serves~n", [node()]).

init([]) ->
    [First, Second] = servers(),
    case node() of
        First -> wait_for(Second);
        Second -> wait_for(First)
    end,
    ok = mnesia:start(),
    case node() of
        First ->
            {atomic, ok} = mnesia:create_table(counter, [{ram_copies, [First]}, {attributes, record_info(fields, counter)}]);
        Second ->
            copy(First)
    end,
    {ok, none}.

wait_for(Node) ->
    case net_adm:ping(Node) of
        pong -> ok;
        pang -> timer:sleep(200), wait_for(Node)
    end.

%% copy joins the first node's schema and copies its table, when that is there.
copy(First) ->
    {ok, _} = mnesia:change_config(extra_db_nodes, [First]),
    case mnesia:add_table_copy(counter, node(), ram_copies) of
        {atomic, ok} -> ok = mnesia:wait_for_tables([counter], infinity);
        {aborted, {already_exists, _, _}} -> ok;
        {aborted, _} -> timer:sleep(200), copy(First)
    end.

handle_call({add, N}, _From, State) ->
    {atomic, Value} = mnesia:transaction(fun() ->
        V = case mnesia:read(counter, c, write) of
            [#counter{value = Old}] -> Old + N;
            [] -> N
        end,
        ok = mnesia:write(#counter{name = c, value = V}),
        V
    end),
    {reply, Value, State};
handle_call(read, _From, State) ->
    {atomic, Value} = mnesia:transaction(fun() -> mnesia:read(counter, c) end),
    {reply, Value, State}.

handle_cast(_, State) -> {noreply, State}.

%% client adds by either server in turn and reads by both.
client() ->
    [First, Second] = servers(),
    lists:foreach(fun wait_for/1, servers()),
    lists:foreach(fun wait_for_counter/1, servers()),
    [1, 3, 6, 10] = [gen_server:call({counter, S}, {add, N}, infinity) || {S, N} <- lists:zip([First, Second, First, Second], [1, 2, 3, 4])],
    lists:foreach(fun(S) ->
        [#counter{value = 10}] = gen_server:call({counter, S}, read, infinity),
        [#counter{value = 10}] = rpc:call(S, mnesia, dirty_read, [counter, c]),
        io:format("read back 10 at ~p~n", [S])
    end, servers()),
    halt(0).

wait_for_counter(Node) ->
    case rpc:call(Node, erlang, whereis, [counter]) of
        P when is_pid(P) -> sys:get_state({counter, Node}, infinity);
        _ -> timer:sleep(200), wait_for_counter(Node)
    end.
