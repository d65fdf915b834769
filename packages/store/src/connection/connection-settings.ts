/**
 * How both ends of a connection find out that the other one is gone, although no FIN or RST ever comes: a host that vanished,
 * a firewall that forgot the connection. The kernels ask after 5 s without traffic, and give up about 10 s later.
 */
export const CLIENT_KEEPALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5000 };

/** The server's side: a session whose client is gone ends, and its locks with it. */
export const SERVER_KEEPALIVE = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10000',
};

/** For the `options` of a connection. */
export const toOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
