import type { Backbone } from '@capstan/backbone';

export type Parts = Pick<Backbone, 'catalog' | 'denials' | 'dispatcher' | 'relay' | 'rules' | 'store'>;
