/**
 * Beside Playwright's own. Everything a page asks for goes to the proxy of its context; these close the ways around it:
 * names that the browser would resolve itself, UDP, and what the browser does on its own account.
 */
export const FLAGS = [
  // Nothing is resolved here; the proxy is an address. Should anything try to connect directly by name, it finds nothing.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-blink-features=WebTransport,RTCRtpTransport,DirectSockets,Prerender2',
  '--no-pings',
  '--disable-domain-reliability',
  '--disable-print-preview',
  '--disable-notifications',
  '--disable-gpu',
  '--disable-webgl',
  '--mute-audio',
  '--disk-cache-size=33554432',
  // A page that takes more ends, and not the machine.
  '--js-flags=--max-old-space-size=512',
];

/** The browser's own requests have no business anywhere: no proxy listens there. */
export const NOWHERE = 'http://127.0.0.1:1';
