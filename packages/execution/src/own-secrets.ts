type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter values are words: they guard little, and redacting them would blacken ordinary output. */
const MIN_LENGTH = 8;
/** Variables that hold a secret, by their names: ours, and what a platform put beside them. */
const SECRET_NAME =
  /(?:^|_)(?:KEYS?|API_?KEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASS|PGPASSWORD|CREDENTIALS?|DSN|PRIVATE)(?:_|$)/i;

/**
 * A tool must never see, and a result never hold, what the worker itself connects with: the passwords of all its URLs, and
 * the value of every variable that is called a secret.
 */
export const ownSecrets = (env: Environment): string[] => {
  const secrets = new Set<string>();
  for (const [name, value = ''] of Object.entries(env)) {
    const password = passwordOf(value);
    if (password !== '') secrets.add(password);
    // The keys that secrets are encrypted with are a list.
    else if (isSecretName(name))
      for (const part of name === 'CAPSTAN_SECRETS_KEY' ? value.split(',') : [value]) secrets.add(part.trim());
  }
  return [...secrets].filter((secret) => secret.length >= MIN_LENGTH);
};

/** A file's name, and the number of a port or a process, are none. */
const isSecretName = (name: string): boolean =>
  name.startsWith('CAPSTAN_SECRET_') || (SECRET_NAME.test(name) && !/(?:FILE|PATH|DIR|ID)$/i.test(name));

const passwordOf = (value: string): string => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || !URL.canParse(value)) return '';
  const { password } = new URL(value);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
};
