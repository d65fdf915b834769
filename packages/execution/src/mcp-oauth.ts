import type { NewMcpServer } from '@capstan/contracts';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/client';

/** What is kept of a login at an MCP server: sealed, and only ever in memory where it is used. */
export type McpCredentials = {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  discovery?: OAuthDiscoveryState;
  verifier?: string;
};

export type McpOAuthOptions = {
  config: NewMcpServer;
  /** Where the browser comes back to. */
  redirect_url: string;
  /** Where this installation says who it is, for authorization servers that look that up; it has to be https. */
  client_metadata_url?: string | undefined;
  /** The secret of a client that was registered by hand. */
  client_secret?: string | undefined;
  state?: string;
  load(): Promise<McpCredentials>;
  save(credentials: McpCredentials): Promise<void>;
  /** Where to send the person; absent where there is none to send. */
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

/** OAuth 2.1 with PKCE as the SDK does it, over credentials that somebody else keeps. */
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
    if (client_id !== undefined) return { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
    return (await this.#options.load()).client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    return this.#change({ client });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#options.load()).tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    return this.#change({ tokens });
  }

  redirectToAuthorization(url: URL): void {
    const { onRedirect, config } = this.#options;
    if (!onRedirect) throw new UnauthorizedError(`${config.name} wants a login`);
    onRedirect(url);
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.#change({ verifier });
  }

  async codeVerifier(): Promise<string> {
    return (await this.#options.load()).verifier ?? '';
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.#change({ discovery });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#options.load()).discovery;
  }

  async invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const { [what === 'all' ? 'client' : what]: _, ...rest } = await this.#options.load();
    await this.#options.save(what === 'all' ? {} : rest);
  }

  async #change(change: McpCredentials): Promise<void> {
    await this.#options.save({ ...(await this.#options.load()), ...change });
  }
}
