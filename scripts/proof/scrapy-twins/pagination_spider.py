import scrapy


class Pagination(scrapy.Spider):
    name = "pagination"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/products")

    def parse(self, response):
        pages = int(response.css("p.pages::text").re_first(r"of (\d+)"))
        for page in range(2, pages + 1):
            yield response.follow(f"?page={page}", self.parse_page)
        yield from self.parse_page(response)

    def parse_page(self, response):
        for product in response.css("li.product a"):
            yield {"name": product.css("::text").get(), "url": response.urljoin(product.attrib["href"])}
