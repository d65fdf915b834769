/** Follows redirects and fills in the forms of the provider's development pages, as a browser would. */
export function openBrowser() {
  const jars = new Map<string, Map<string, string>>();
  const send = async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { origin } = new URL(address);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(address, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  /** The address at `home` that a login started at `start` redirects to. It is not opened yet. */
  const logIn = async (start: string | URL, login: string, home: string): Promise<URL> => {
    let at = new URL(start);
    let answer = await send(at);
    for (let step = 0; step < 12; step += 1) {
      const location = answer.headers.get('location');
      if (location === null) {
        const page = await answer.text();
        const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
        const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
        if (!action || !prompt) throw new Error(`no form at ${at.href}: ${answer.status} ${page}`);
        at = new URL(action, at);
        answer = await send(at, { method: 'POST', body: new URLSearchParams({ prompt, login, password: 'any' }) });
        continue;
      }
      at = new URL(location, at);
      if (at.origin === home) return at;
      answer = await send(at);
    }
    throw new Error(`the login does not end; it is at ${at.href}`);
  };
  return { send, logIn };
}
