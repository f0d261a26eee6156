import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  targetAudiences,
  type TargetAudience,
  targetIndustries,
  type TargetIndustry,
  targetObjectives,
  type TargetObjective,
  parseTarget,
} from '../../src/contract/targets.js';

/** Id and meaning, one a line, as the specification lists them. */
function parse(list: string): Record<number, string> {
  const entries = list
    .trim()
    .split('\n')
    .map((line) => {
      const item = line.trim();
      const blank = item.indexOf(' ');
      return [Number(item.slice(0, blank)), item.slice(blank + 1)] as const;
    });
  return Object.fromEntries(entries);
}

// Spec 2.4, to the letter.
const shownAudiences = parse(`
  1 Agency / Consultants
  2 Creators & Influencers
  3 Customer Support & Success
  4 Developers & Technical Leads
  5 E-commerce & Retail Managers
  6 Enterprise Decision-Makers
  7 Finance & Operations Professionals
  8 Founders & C-Level Executives
  9 Freelancers & Solopreneurs
  10 Government & Public Sector Employees
  11 HR & Talent Acquisition
  12 Healthcare Professionals
  13 Hobbyists & Enthusiasts
  14 Investors & VCs
  15 Job Seekers
  16 Legal Professionals
  17 Marketing & Sales Professionals
  18 Non-Profit Leaders & Staff
  19 Parents & Families
  20 Product & Project Managers
  21 Real Estate Professionals
  22 Small-to-Medium Business (SMB) Owners
  23 Students & Educators
`);

const shownObjectives = parse(`
  1 App Installs / Downloads
  2 Audience Building (Email/Community)
  3 Brand Awareness & Recall
  4 Customer Acquisition / Sales
  5 Free Trial or Freemium Signups
  6 Lead Generation (Top/Mid-Funnel)
  7 Loyalty & Referral Program Growth
  8 Market & Customer Research
  9 New Market Entry
  10 Partner & Affiliate Recruitment
  11 Product Engagement & Feature Adoption
  12 Sales-Ready Leads (Bottom-Funnel)
  13 Upsell / Cross-sell Revenue
  14 User Retention & Churn Reduction
  15 Waitlist / Pre-order Signups
  16 Website / App Traffic Acquisition
`);

const shownIndustries = parse(`
  1 Accommodation
  2 Accommodation and Food Services
  3 Administrative and Support Services
  4 Administrative and Support and Waste Management and Remediation Services
  5 Agriculture, Forestry, Fishing and Hunting
  6 Air Transportation
  7 Ambulatory Health Care Services
  8 Amusement, Gambling, and Recreation Industries
  9 Animal Production
  10 Apparel Manufacturing
  11 Arts, Entertainment, and Recreation
  12 Beverage and Tobacco Product Manufacturing
  13 Broadcasting (except Internet)
  14 Building Material and Garden Equipment and Supplies Dealers
  15 Chemical Manufacturing
  16 Clothing and Clothing Accessories Stores
  17 Computer and Electronic Product Manufacturing
  18 Construction
  19 Construction of Buildings
  20 Couriers and Messengers
  21 Credit Intermediation and Related Activities
  22 Crop Production
  23 Data Processing, Hosting, and Related Services
  24 Education and Health Services
  25 Educational Services
  26 Electrical Equipment, Appliance, and Component Manufacturing
  27 Electronics and Appliance Stores
  28 Fabricated Metal Product Manufacturing
  29 Finance and Insurance
  30 Financial Activities
  31 Fishing, Hunting and Trapping
  32 Food Manufacturing
  33 Food Services and Drinking Places
  34 Food and Beverage Stores
  35 Forestry and Logging
  36 Funds, Trusts, and Other Financial Vehicles
  37 Furniture and Home Furnishings Stores
  38 Furniture and Related Product Manufacturing
  39 Gasoline Stations
  40 General Merchandise Stores
  41 Goods-Producing Industries
  42 Health Care and Social Assistance
  43 Health and Personal Care Stores
  44 Heavy and Civil Engineering Construction
  45 Hospitals
  46 Information
  47 Insurance Carriers and Related Activities
  48 Internet Publishing and Broadcasting
  49 Leather and Allied Product Manufacturing
  50 Leisure and Hospitality
  51 Lessors of Nonfinancial Intangible Assets (except Copyrighted Works)
  52 Machinery Manufacturing
  53 Management of Companies and Enterprises
  54 Manufacturing
  55 Merchant Wholesalers, Durable Goods
  56 Merchant Wholesalers, Nondurable Goods
  57 Mining (except Oil and Gas)
  58 Mining, Quarrying, and Oil and Gas Extraction
  59 Miscellaneous Manufacturing
  60 Miscellaneous Store Retailers
  61 Monetary Authorities - Central Bank
  62 Motion Picture and Sound Recording Industries
  63 Motor Vehicle and Parts Dealers
  64 Museums, Historical Sites, and Similar Institutions
  65 Natural Resources and Mining
  66 Nonmetallic Mineral Product Manufacturing
  67 Nonstore Retailers
  68 Nursing and Residential Care Facilities
  69 Oil and Gas Extraction
  70 Other Information Services
  71 Other Services (except Public Administration)
  72 Paper Manufacturing
  73 Performing Arts, Spectator Sports, and Related Industries
  74 Personal and Laundry Services
  75 Petroleum and Coal Products Manufacturing
  76 Pipeline Transportation
  77 Plastics and Rubber Products Manufacturing
  78 Postal Service
  79 Primary Metal Manufacturing
  80 Printing and Related Support Activities
  81 Private Households
  82 Professional and Business Services
  83 Professional, Scientific, and Technical Services
  84 Publishing Industries (except Internet)
  85 Rail Transportation
  86 Real Estate
  87 Real Estate and Rental and Leasing
  88 Religious, Grantmaking, Civic, Professional, and Similar Organizations
  89 Rental and Leasing Services
  90 Repair and Maintenance
  91 Retail Trade
  92 Scenic and Sightseeing Transportation
  93 Securities, Commodity Contracts, and Other Financial Investments and Related Activities
  94 Service-Providing Industries
  95 Social Assistance
  96 Specialty Trade Contractors
  97 Sporting Goods, Hobby, Book, and Music Stores
  98 Support Activities for Agriculture and Forestry
  99 Support Activities for Mining
  100 Support Activities for Transportation
  101 Telecommunications
  102 Textile Mills
  103 Textile Product Mills
  104 Trade, Transportation, and Utilities
  105 Transit and Ground Passenger Transportation
  106 Transportation Equipment Manufacturing
  107 Transportation and Warehousing
  108 Truck Transportation
  109 Utilities
  110 Warehousing and Storage
  111 Waste Management and Remediation Services
  112 Water Transportation
  113 Wholesale Electronic Markets and Agents and Brokers
  114 Wholesale Trade
  115 Wood Product Manufacturing
`);

const tables = [
  { name: 'targetAudiences', table: targetAudiences, shown: shownAudiences, highest: 23 },
  { name: 'targetObjectives', table: targetObjectives, shown: shownObjectives, highest: 16 },
  { name: 'targetIndustries', table: targetIndustries, shown: shownIndustries, highest: 115 },
];

describe.each(tables)('$name', ({ table, shown, highest }) => {
  it('are the ids and meanings of the specification', () => {
    expect(table).toEqual(shown);
  });

  it('number from 1 without a gap', () => {
    const ids = Object.keys(table).map(Number);
    expect(ids).toEqual(Array.from({ length: highest }, (_, index) => index + 1));
  });
});

it('types the ids', () => {
  expectTypeOf<1>().toExtend<TargetAudience>();
  expectTypeOf<24>().not.toExtend<TargetAudience>();
  expectTypeOf<16>().toExtend<TargetObjective>();
  expectTypeOf<17>().not.toExtend<TargetObjective>();
  expectTypeOf<115>().toExtend<TargetIndustry>();
  expectTypeOf<116>().not.toExtend<TargetIndustry>();
});

const meanings: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  targetAudiences,
  targetIndustries,
  targetObjectives,
};

describe('parseTarget', () => {
  it.each(Object.entries(meanings))('takes every id and meaning of %s', (_, table) => {
    for (const [id, meaning] of Object.entries(table)) {
      expect(parseTarget(table, Number(id))).toBe(Number(id));
      expect(parseTarget(table, id)).toBe(Number(id));
      expect(parseTarget(table, meaning)).toBe(Number(id));
      expect(parseTarget(table, ` \t${meaning.toUpperCase()} \n`)).toBe(Number(id));
      expect(parseTarget(table, meaning.toLowerCase())).toBe(Number(id));
    }
  });

  it.each([
    '',
    ' ',
    '0',
    '24',
    '-1',
    '1.5',
    '1e0',
    '01',
    '+1',
    'NaN',
    '1 Agency / Consultants',
    'Agency',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
  ])('finds nothing for %o', (given) => {
    expect(parseTarget(targetAudiences, given)).toBeUndefined();
  });

  it.each([0, -1, -0, 24, 1.5, NaN, Infinity, 2 ** 53])(
    'finds nothing for the number %d',
    (given) => {
      expect(parseTarget(targetAudiences, given)).toBeUndefined();
    },
  );

  it('gives an id of the table', () => {
    expectTypeOf(parseTarget(targetAudiences, 1)).toEqualTypeOf<TargetAudience | undefined>();
  });
});
