import { isObject, type NewMcpServer } from '@capstan/contracts';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { computeScopeUnion, UnauthorizedError } from '@modelcontextprotocol/client';
import { z } from 'zod';

const has = (value: unknown, name: string): boolean => isObject(value) && typeof value[name] === 'string';

/**
 * The stored state of a login at an MCP server. It is encrypted at rest, and in clear only in the memory of its user. Only what
 * identifies each part is checked, because the SDK validated them before they were stored.
 */
const McpCredentials = z.object({
  client: z.custom<StoredOAuthClientInformation>((value) => has(value, 'client_id')).exactOptional(),
  tokens: z.custom<StoredOAuthTokens>((value) => has(value, 'access_token')).exactOptional(),
  discovery: z.custom<OAuthDiscoveryState>((value) => has(value, 'authorizationServerUrl')).exactOptional(),
  verifier: z.string().exactOptional(),
  challenge: z
    .object({ scope: z.string().exactOptional(), resource_metadata_url: z.string().exactOptional() })
    .exactOptional(),
});
export type McpCredentials = z.infer<typeof McpCredentials>;

/** Null: nobody has logged in yet. */
export const readCredentials = (text: string | null): McpCredentials =>
  text === null ? {} : McpCredentials.parse(JSON.parse(text));

/** What a server required when it refused a request. The next login uses it. */
export type McpChallenge = { scope?: string; resource_metadata_url?: string };

/** Scopes accumulate: a server that requires different scopes for different requests needs all of them. */
export const withChallenge = (credentials: McpCredentials, challenge: McpChallenge): McpCredentials => {
  const scope = computeScopeUnion(credentials.challenge?.scope, challenge.scope);
  return { ...credentials, challenge: { ...challenge, ...(scope === undefined ? {} : { scope }) } };
};

export type McpOAuthOptions = {
  config: NewMcpServer;
  /** Where the browser returns after the login. */
  redirect_url: string;
  /** The URL of this installation's client metadata, for authorization servers that fetch it. Ignored unless it is https. */
  client_metadata_url?: string | undefined;
  /** The secret of a manually registered client. */
  client_secret?: string | undefined;
  state?: string;
  load(): Promise<McpCredentials>;
  change(alter: (credentials: McpCredentials) => McpCredentials): Promise<void>;
  /** Sends the person to log in. Absent if there is nobody to send; then tokens are only refreshed, by `refreshOnce`, which stores them. */
  onRedirect?(url: URL): void;
};

export const clientMetadata = (redirect_url: string, scope?: string): OAuthClientMetadata => ({
  client_name: 'Capstan',
  redirect_uris: [redirect_url],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  ...(scope === undefined ? {} : { scope }),
});

/** OAuth 2.1 with PKCE as the SDK implements it. `load` and `change` keep the credentials. */
export class McpOAuth implements OAuthClientProvider {
  readonly #options: McpOAuthOptions;
  readonly clientMetadataUrl?: string;

  constructor(options: McpOAuthOptions) {
    this.#options = options;
    const { client_metadata_url } = options;
    if (client_metadata_url?.startsWith('https://')) this.clientMetadataUrl = client_metadata_url;
  }

  get redirectUrl(): string {
    return this.#options.redirect_url;
  }

  get clientMetadata(): OAuthClientMetadata {
    return clientMetadata(this.#options.redirect_url, this.#options.config.oauth?.scope);
  }

  state(): string {
    return this.#options.state ?? '';
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { config, client_secret } = this.#options;
    const client_id = config.oauth?.client_id;
    const { client, tokens } = await this.#options.load();
    if (client_id !== undefined) {
      // Of the server at which it was first used: a server that later names another gets neither the client nor its secret.
      const issuer = client?.client_id === client_id ? client.issuer : undefined;
      return {
        client_id,
        ...(client_secret === undefined ? {} : { client_secret }),
        ...(issuer === undefined ? {} : { issuer }),
      };
    }
    // Nobody is there to log in, so there is no point in registering a client.
    if (!this.#options.onRedirect && !tokens) throw this.#loginWanted();
    return client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    return this.#add({ client });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#options.load()).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    if (this.#options.onRedirect) await this.#add({ tokens });
  }

  redirectToAuthorization(url: URL): void {
    const { onRedirect } = this.#options;
    if (!onRedirect) throw this.#loginWanted();
    onRedirect(url);
  }

  #loginWanted(): UnauthorizedError {
    return new UnauthorizedError(`${this.#options.config.name} wants a login`);
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.#add({ verifier });
  }

  async codeVerifier(): Promise<string> {
    return (await this.#options.load()).verifier ?? '';
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.#add({ discovery });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#options.load()).discovery;
  }

  async invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (!this.#options.onRedirect) return;
    await this.#options.change((credentials) => {
      const { [what === 'all' ? 'client' : what]: _, ...rest } = credentials;
      return what === 'all' ? {} : rest;
    });
  }

  #add(part: McpCredentials): Promise<void> {
    return this.#options.change((credentials) => ({ ...credentials, ...part }));
  }
}
