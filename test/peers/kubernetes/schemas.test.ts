import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { findProgram } from '../../fixtures/find-program.js';
import { findRepository } from '../../fixtures/find-repository.js';

const kubectl = findProgram('kubectl', 'the Kubernetes manifests against the schemas of Kubernetes and KEDA');
const Resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const Model = z.custom<new (data: object) => { validate(): void }>((value) => typeof value === 'function');

const Data = z.record(z.string(), z.string());
const unfolded = (data: z.infer<typeof Data>) =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value.replace(/\s/g, '')]));

/** Where the model of a resource is. It has the schema that Kubernetes or the operator publishes. */
const packageOf = (apiVersion: string): string =>
  apiVersion.startsWith('keda.sh/')
    ? `@kubernetes-models/keda/${apiVersion}`
    : apiVersion.startsWith('monitoring.coreos.com/')
      ? `@kubernetes-models/prometheus-operator/${apiVersion}`
      : `kubernetes-models/${apiVersion}`;

describe.runIf(kubectl).each(['try', 'production'])('the overlay %s', (overlay) => {
  test('matches the schemas of Kubernetes, KEDA and the Prometheus operator', async () => {
    if (kubectl === undefined) return;
    const folder = fileURLToPath(new URL(`infra/kubernetes/overlays/${overlay}`, findRepository()));
    const text = execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8' });
    const resources = parseAllDocuments(text).map((document) => Resource.parse(document.toJS()));
    expect(resources.length).toBeGreaterThan(30);
    const mistakes: string[] = [];
    for (const resource of resources) {
      // Kustomize folds long values. Kubernetes accepts that as base64, but this schema does not.
      if (resource.kind === 'Secret') resource.data = unfolded(Data.parse(resource.data));
      const models = await import(packageOf(resource.apiVersion));
      try {
        new (Model.parse(models[resource.kind]))(resource).validate();
      } catch (error) {
        mistakes.push(`${resource.kind} ${resource.metadata.name}: ${error}`);
      }
    }
    expect(mistakes).toEqual([]);
  });
});
