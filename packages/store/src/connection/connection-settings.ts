/**
 * Keepalives let both ends notice a peer that vanished without a FIN or RST: a lost host, or a firewall that dropped the
 * connection. The kernels probe after 5 s without traffic and give up about 10 s later.
 */
export const CLIENT_KEEPALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5000 };

/** The server's side: a session whose client is gone ends, and its locks with it. */
export const SERVER_KEEPALIVE = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10000',
};

/** Formats settings for the `options` parameter of a connection. */
export const toOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
