"""A site crawled by real Scrapy, whose dupefilter is kept in Redis as Scrapy-Redis keeps it: a SET of fingerprints.

    python3 known_pages.py START_URL REDIS_URL

One set for each formula that ever was, `<formula>:dupefilter`, and beside it `<formula>:urls`, a hash of URL without
fragment to fingerprint, by which the proof can take single ones out. Needs Debian's python3-scrapy and python3-redis.
"""

import hashlib
import json
import sys
import warnings

import redis
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import fingerprint, request_fingerprint
from w3lib.url import canonicalize_url

warnings.simplefilter("ignore", ScrapyDeprecationWarning)
start, store = sys.argv[1:]
server = redis.from_url(store)


def scrapy_redis(request):
    """Scrapy-Redis 0.8 and later: JSON of body, method and canonical URL, keys sorted, under SHA-1."""
    known = {"body": request.body.hex(), "method": request.method, "url": canonicalize_url(request.url)}
    return hashlib.sha1(json.dumps(known, sort_keys=True).encode()).hexdigest()


FORMULAS = {
    "scrapy-redis": scrapy_redis,
    "scrapy": lambda request: fingerprint(request).hex(),
    "scrapy-2.6": request_fingerprint,
}


class RedisSets(BaseDupeFilter):
    def request_seen(self, request):
        added = 0
        for name, formula in FORMULAS.items():
            digits = formula(request)
            added = server.sadd(f"{name}:dupefilter", digits)
            server.hset(f"{name}:urls", request.url.partition("#")[0], digits)
        return not added


class Pages(scrapy.Spider):
    name = "pages"
    links = LinkExtractor(tags=("a", "area"), attrs=("href",), deny_extensions=[], canonicalize=False)

    def start_requests(self):
        yield scrapy.Request(start)

    def parse(self, response):
        if b"html" not in response.headers.get("Content-Type", b""):
            return
        site = response.urljoin("/")
        for link in self.links.extract_links(response):
            if link.url.startswith(site):
                yield scrapy.Request(link.url)


process = CrawlerProcess(
    {
        "DUPEFILTER_CLASS": RedisSets,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Pages)
process.start()
