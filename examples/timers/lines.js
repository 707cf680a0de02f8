// Lines over TCP: a server, and a connection that answers requests in their order.
const net = require('net');

function lines(socket, said) {
  let rest = '';
  socket.on('data', d => {
    const all = (rest + d).split('\n');
    rest = all.pop();
    for (const line of all) said(line.split(' '));
  });
}

// serve calls said(words, say) with each line of each connection.
exports.serve = (port, said) => net.createServer(socket => {
  socket.on('error', () => {});
  lines(socket, words => said(words, line => socket.write(line + '\n')));
}).listen(port, '0.0.0.0');

// connect tries until there is a server, and gives a function that asks it.
exports.connect = (host, port) => new Promise(ready => {
  const waiting = [];
  const socket = net.connect(port, host, () => {
    lines(socket, words => waiting.shift()(words));
    ready(line => new Promise(answer => {
      waiting.push(answer);
      socket.write(line + '\n');
    }));
  });
  socket.on('error', () => setTimeout(() => ready(exports.connect(host, port)), 100));
});
