/** Runs in pages before their own scripts. WebRTC and WebTransport would bypass the proxy. */
export const withoutPeers = (): void => {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'])
    Reflect.deleteProperty(globalThis, name);
};
