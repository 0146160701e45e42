from scrapy.spiders import SitemapSpider


class Sitemap(SitemapSpider):
    name = "sitemap"
    sitemap_follow = ["sitemap-products"]
    sitemap_rules = [("/product/", "parse_product")]

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.sitemap_urls = [f"{site}/robots.txt"]

    def sitemap_filter(self, entries):
        for entry in entries:
            if entry["lastmod"] >= "2026":
                yield entry

    def parse_product(self, response):
        yield {"url": response.url, "name": response.css("h1::text").get()}
