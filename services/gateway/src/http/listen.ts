import type { FastifyInstance } from 'fastify';

/**
 * Connections that may wait to be accepted; net.core.somaxconn is an upper limit. With Node's default of 511, clients in a burst of
 * 3,000 had to retry their connection, 1 to 15 s later.
 */
const BACKLOG = 4096;

export async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE')
      throw new Error(
        `Port ${port} of ${host} is in use. Stop the process that uses it, or set CAPSTAN_PORT to another port.`,
      );
    if (code === 'EACCES')
      throw new Error(`This process may not listen on port ${port}. Set CAPSTAN_PORT to another port.`);
    throw error;
  }
}
