// A script of the tests' own, in the forms that the documentation of k6 shows.
import http from 'k6/http';
import { check, group, sleep } from 'k6';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8096';
const VERSION = 1;
const HEADERS = { Accept: 'application/json', Authorization: 'Bearer abcdef0123456789' };
const params = { headers: { ...HEADERS, 'Content-Type': 'application/json' }, tags: { name: 'Order' } };

export const options = {
  thresholds: { http_req_failed: ['rate<0.01'] },
  scenarios: {
    buyers: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 3,
    },
    clerks: {
      executor: 'ramping-arrival-rate',
      exec: 'stock',
      startRate: 60,
      timeUnit: '1m',
      preAllocatedVUs: 5,
      maxVUs: 20,
      stages: [
        { target: 600, duration: '1m30s' },
        { target: 0, duration: '500ms' },
      ],
    },
  },
};

export default function () {
  const listed = http.get(`${BASE}/v${VERSION}/books?q=a%20b&limit=${2 + 3}`, { headers: HEADERS });
  check(listed, { 'is 200': (r) => r.status === 200 });
  sleep(0.01);
  const order = { book: 'Emma \u00fc', count: 2, lines: [1, 2.5, null, true] };
  http.post(BASE + '/orders', JSON.stringify(order), params);
  group('paying', function () {
    check(http.put(`${BASE}/pay`, { note: 'in time', card: 'visa' }), {});
    http.patch(`${BASE}/pay/1`, 'a\tb\x41');
  });
  http.request('DELETE', `${BASE}/orders/1`, null, { headers: { 'X-Why': "it's late" } });
  http.del(`${BASE}/orders/2`);
  http.head(`${BASE}/stock`);
  sleep(0.02);
}

export function stock() {
  http.get(`${BASE}/stock`);
}

export function handleSummary(data) {
  return { 'summary.json': JSON.stringify(data) };
}
