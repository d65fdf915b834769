type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter values are probably ordinary words. They protect little, and redacting them would garble ordinary output. */
const MIN_LENGTH = 8;
/** Names of variables that hold a secret, both ours and those that a platform adds. */
const SECRET_NAME =
  /(?:^|_)(?:KEYS?|API_?KEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASS|PGPASSWORD|CREDENTIALS?|DSN|PRIVATE)(?:_|$)/i;

/**
 * The worker's own credentials, which no tool may see and no result may contain: the passwords in all its URLs, and the value of
 * every variable with the name of a secret.
 */
export const ownSecrets = (env: Environment): string[] => {
  const secrets = new Set<string>();
  for (const [name, value = ''] of Object.entries(env)) {
    const password = passwordOf(value);
    if (password !== '') secrets.add(password);
    // The encryption keys for secrets are a list.
    else if (isSecretName(name))
      for (const part of name === 'CAPSTAN_SECRETS_KEY' ? value.split(',') : [value]) secrets.add(part.trim());
  }
  return [...secrets].filter((secret) => secret.length >= MIN_LENGTH);
};

/** Names of files and directories, and ids, are not secrets. */
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
