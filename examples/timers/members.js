// A map that is divided among two servers, over UDP. Any server answers for any key.
//
//   members.js NAME PEER [greedy]
//   members.js client
//
// A server sends a request for its peer's key on to the peer. If it has not heard the peer for
// 2 s, it says that the key is unavailable. A greedy server then takes the key over.
const dgram = require('dgram'), dns = require('dns');
const AWAY = 2000;
const [name, peer, fault] = process.argv.slice(2);
const socket = dgram.createSocket('udp4');
const say = (line, port, host) => socket.send(line, port, host);

function server(greedy) {
  const map = {}, asked = {};
  let seen = Date.now();
  socket.bind(7000, '0.0.0.0', () => dns.lookup(peer, (err, peerHost) => {
    if (err) throw err;
    socket.on('message', (data, from) => {
      const [word, id, key, value] = String(data).split(' ');
      if (from.address === peerHost) {
        seen = Date.now();
        if (word === 'did') {
          const client = asked[id];
          return say(`did ${id} ${key}`, client.port, client.address);
        }
      } else if (!key.startsWith(name)) {
        if (Date.now() - seen <= AWAY) {
          asked[id] = from;
          return say(String(data), 7000, peerHost);
        }
        if (!greedy) return say(`away ${id}`, from.port, from.address);
      }
      if (word === 'put') map[key] = value;
      say(`did ${id} ${map[key]}`, from.port, from.address);
    });
  }));
}

function client() {
  let id = 0, heard;
  socket.on('message', data => heard(String(data).split(' ')));
  const ask = (server, what) => new Promise(answer => {
    const mine = String(++id);
    heard = words => words[1] === mine && answer(words);
    const [word, ...rest] = what.split(' ');
    say([word, mine, ...rest].join(' '), 7000, server);
  });
  setTimeout(async () => {
    for (let i = 1, written = 0; i <= 3; i++) {
      if ((await ask('n1', `put n2-key ${i}`))[0] === 'did') written = i;
      const [word, , got] = await ask('n2', 'get n2-key');
      if (word === 'did' && written > 0 && Number(got) < written || got === 'undefined' && written > 0) {
        console.error(`wrote ${written} and read ${got}`);
        process.exit(1);
      }
    }
    console.log('read what was written');
    process.exit(0);
  }, 300);
}

if (name === 'client') client();
else server(fault === 'greedy');
