import scrapy


class Details(scrapy.Spider):
    name = "details"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/products")

    def parse(self, response):
        for position, row in enumerate(response.css("li.product")):
            yield response.follow(
                row.css("a")[0],
                self.parse_product,
                cb_kwargs={"category": row.attrib["data-category"]},
                meta={"position": position},
            )

    def parse_product(self, response, category):
        yield {
            "category": category,
            "position": response.meta["position"],
            "name": response.css("h1::text").get(),
            "price": float(response.css("p.price::text").re_first(r"[\d.]+")),
        }
