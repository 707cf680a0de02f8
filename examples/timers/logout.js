// A web server that keeps its sessions in a store, and a browser with two tabs.
//
//   logout.js store
//   logout.js web [saving]
//   logout.js browser
//
// A session ends 10 s after it was last used. To spare the store, the server notes a use only if
// the last one that it has noted is 1 s ago: the store sets the time of a session that it has.
// A saving server puts the session as it has read it, so that a logout meanwhile is undone.
const { serve, connect } = require('./lines.js');
const LASTS = 10000, NOTED = 1000;
const [role, fault] = process.argv.slice(2);

function store() {
  const sessions = new Map();
  serve(7001, ([word, id, user, used], say) => {
    if (word === 'put' || word === 'touch' && sessions.has(id)) sessions.set(id, `${user} ${used}`);
    if (word === 'drop') sessions.delete(id);
    say(sessions.has(id) ? `session ${sessions.get(id)}` : 'none');
  });
}

async function web(saving) {
  const store = await connect('store', 7001);
  serve(7000, async ([word, id, name], say) => {
    if (word === 'login') {
      await store(`put ${id} ${name} ${Date.now()}`);
      return say('welcome');
    }
    if (word === 'logout') {
      await store(`drop ${id}`);
      return say('bye');
    }
    const [found, user, used] = await store(`load ${id}`);
    const idle = Date.now() - Number(used);
    if (found === 'none' || idle > LASTS) return say('stranger');
    if (idle >= NOTED) await store(`${saving ? 'put' : 'touch'} ${id} ${user} ${Date.now()}`);
    say(`page of ${user}`);
  });
}

async function browser() {
  const one = await connect('web', 7000), two = await connect('web', 7000);
  for (const id of ['s1', 's2']) {
    await one(`login ${id} ann`);
    await two(`page ${id}`);
    await Promise.all([one(`logout ${id}`), two(`page ${id}`)]);
    if ((await one(`page ${id}`))[0] === 'page') {
      console.error('a page after the logout');
      process.exit(1);
    }
  }
  console.log('logged out');
  process.exit(0);
}

if (role === 'store') store();
else if (role === 'web') web(fault === 'saving');
else browser();
